//! Answers the engine gives by itself.

use crate::connection::{Connection, Stage};
use crate::engine::Engine;
use crate::head::{self, Bounds};
use crate::kept::Ending;
use crate::method::METHODS;
use crate::request::{flags, framing};
use crate::wire::request_flags;

impl Engine {
    /// Gives an answer the owner had it keep. Only to a request that is good, has no body and is first in line.
    pub(crate) fn answer_by_itself(
        &mut self,
        connection: &mut Box<Connection>,
        head: &[u8],
        bounds: Bounds,
    ) -> bool {
        let method = METHODS[usize::from(bounds.line.method)];
        let server = self.servers.get(connection.whom.server as usize);
        let Some(Some(server)) = server else {
            return false;
        };
        if server.kept.is_empty()
            || !matches!(method, "GET" | "HEAD")
            || connection.answers.in_flight() > 0
        {
            return false;
        }
        let settings = server.settings;
        let limits = settings.limits();
        let block = &head[bounds.line.end..];
        let Ok(facts) = head::read_block(block, |_, _, _, _| {}) else {
            return false;
        };
        let url = &head[bounds.line.url_start..bounds.line.url_end];
        let flags = flags(&facts, bounds.line.minor, false);
        let is_plain = framing(&facts, limits).is_none()
            && facts.expect.is_none()
            && !facts.upgrade
            && flags & request_flags::HOST_MISSING == 0
            && !facts.exceed(url.len(), limits);
        if !is_plain {
            return false;
        }
        let ending = Ending {
            keep_alive: flags & request_flags::KEEP_ALIVE != 0,
            timeout_s: settings.keep_alive_shown / 1000,
            is_head: method == "HEAD",
        };
        let mut bytes = self.lend();
        let date = &mut self.date;
        let Some(Some(server)) = self.servers.get(connection.whom.server as usize) else {
            return false;
        };
        if !server
            .kept
            .answer(url, self.now_ms, date, ending, &mut bytes)
        {
            self.give_back(bytes);
            return false;
        }
        connection.head_since = 0;
        connection.head = None;
        connection.idle_since = 0;
        if !ending.keep_alive {
            connection.stage = Stage::Closing;
        }
        connection.answers.skip_request();
        self.push_own(connection, &bytes);
        self.give_back(bytes);
        self.rest(connection);
        true
    }
}
