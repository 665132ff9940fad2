//! The places at which an observed engine writes the facts of exchanges.

use std::time::Duration;

use telemetry_ring::Writer;
use telemetry_ring::wire::end;

use crate::address;
use crate::connection::{Connection, Wait};
use crate::engine::Engine;
use crate::exchanges::{Exchanges, Observed};
use crate::head::RequestLine;
use crate::method;
use crate::problem::ProblemKind;
use crate::sys::{self, Errno};

/// The responses of a connection that leaves HTTP.
const SWITCHING_PROTOCOLS: u32 = 101;
const CONNECTED: u32 = 200;

impl Engine {
    /// Writes the facts of exchanges to a ring from now on; `None` ends it.
    pub fn observe(&mut self, writer: Option<Writer>) {
        self.exchanges = writer.map(Exchanges::new);
        let connections = self.slots.iter_mut().flat_map(|slot| &mut slot.connection);
        for connection in connections {
            connection.observed = Observed::with_open(connection.responses.in_flight());
        }
    }

    /// Writes that a request was received.
    pub(crate) fn observe_request(
        &mut self,
        connection: &mut Connection,
        sequence: u32,
        head: &[u8],
        line: &RequestLine,
    ) {
        let Some(exchanges) = &mut self.exchanges else {
            return;
        };
        let id = connection.id;
        if !connection.observed.has_peer {
            let source = connection.endpoints().map(|ends| ends.source.clone());
            let peer = source.or_else(|| address::remote(&connection.fd).ok());
            connection.observed.has_peer = exchanges.peer(id, peer.as_ref());
        }
        connection.observed.open += 1;
        connection.observed.is_connect = line.method == method::CONNECT;
        exchanges.begin((id, sequence), self.read_at, head, line);
    }

    /// Writes that a request was received, and notes that the engine has responded to it.
    pub(crate) fn observe_kept(
        &mut self,
        connection: &mut Connection,
        sequence: u32,
        head: &[u8],
        line: &RequestLine,
        facts: u32,
    ) {
        self.observe_request(connection, sequence, head, line);
        connection.observed.end(sequence, facts, end::IS_KEPT);
    }

    /// Writes the ends of the responses on these slots, once their bytes were offered to the kernel.
    pub(crate) fn observe_ends(&mut self, slots: &[u32]) {
        let Some(exchanges) = &mut self.exchanges else {
            return;
        };
        let mut sent_at = None;
        for slot in slots {
            let Some(connection) = &mut self.slots[*slot as usize].connection else {
                continue;
            };
            if connection.observed.has_endings() {
                let now = *sent_at.get_or_insert_with(sys::now);
                let is_sent = connection.responses.unsent() == 0;
                let sent_at = is_sent.then_some(now);
                exchanges.ends(connection.id, &mut connection.observed, self.now, sent_at);
            }
        }
    }

    /// Writes that the kernel has taken what was left of ended responses.
    pub(crate) fn observe_sent(&mut self, connection: &mut Connection) {
        connection.observed.awaits_sent = false;
        if let Some(exchanges) = &mut self.exchanges {
            exchanges.sent(connection.id, sys::now());
        }
    }

    /// Writes the end of a connection, if a request or a response ends with it.
    pub(crate) fn observe_close(&mut self, connection: &mut Connection, errno: Errno) {
        let Some(exchanges) = &mut self.exchanges else {
            return;
        };
        let id = connection.id;
        let is_sent = errno == 0 && connection.responses.unsent() == 0;
        let observed = &mut connection.observed;
        if observed.open == 0 && !observed.awaits_sent && !observed.has_endings() {
            return;
        }
        let now = sys::now();
        exchanges.ends(id, observed, self.now, is_sent.then_some(now));
        if observed.open > 0 || observed.awaits_sent {
            exchanges.close(id, now, errno.unsigned_abs());
        }
    }

    /// Notes that the owner takes the connection over, as the response to its last request.
    pub(crate) fn observe_takeover(&self, connection: &mut Connection) {
        if self.exchanges.is_none() || connection.wait != Wait::Upgrade {
            return;
        }
        let status = if connection.observed.is_connect {
            CONNECTED
        } else {
            SWITCHING_PROTOCOLS
        };
        let sequence = connection.responses.last_request();
        let facts = status << end::STATUS_SHIFT;
        connection.observed.end(sequence, facts, end::IS_UPGRADE);
    }

    /// Writes that input was refused before it became a request.
    pub(crate) fn observe_refusal(&mut self, connection: &Connection, problem: ProblemKind) {
        let Some(exchanges) = &mut self.exchanges else {
            return;
        };
        // A head that came at once was read in this turn.
        let is_awaited = connection.head.is_some() || problem == ProblemKind::Timeout;
        let read_at = if is_awaited && connection.head_since != 0 {
            Duration::from_millis(connection.head_since)
        } else {
            self.read_at
        };
        exchanges.refused(connection.id, problem, read_at, sys::now());
    }
}
