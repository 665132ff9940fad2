//! Requests that the engine answers by itself.

use std::sync::Arc;

use crate::asked::Asked;
use crate::connection::{Connection, Stage};
use crate::engine::Engine;
use crate::head::Bounds;
use crate::kept_answer::KeptAnswer;
use crate::line_log::{Admission, Answered, LineLog, Took};
use crate::method;
use crate::own_answers::OwnAnswers;
use crate::request::{flags, framing};
use crate::server::Server;
use crate::store::{Found, Freshness, Identity};
use crate::wire::{answer_count, header, request, request_flags};

/// From here on a body is sent from where it lies.
const LARGE: usize = 16 * 1024;
/// A request with so many headers surely has room where this much is free.
const MOST_HEADERS: usize = 128;

/// An answer, and how it is given.
struct Given {
    answer: Arc<KeptAnswer>,
    asked: Asked,
    is_stale: bool,
    is_not_modified: bool,
    keeps_alive: bool,
    is_logged: bool,
}

impl Engine {
    /// Answers with what the owner had it keep. Only a request that is good, has no body and is first in line.
    pub(crate) fn answer_by_itself(
        &mut self,
        connection: &mut Box<Connection>,
        head: &[u8],
        bounds: Bounds,
    ) -> bool {
        let is_head = bounds.line.method == method::HEAD;
        if bounds.line.method != method::GET && !is_head || connection.answers.in_flight() > 0 {
            return false;
        }
        let Some(Some(server)) = self.servers.get_mut(connection.whom.server as usize) else {
            return false;
        };
        // A request that is let through to make a new answer has to get there.
        let words = request::HEADERS + MOST_HEADERS * header::WORDS;
        let may_renew = !is_head && !self.batch.locked && self.batch.has_room(words, head.len());
        let log = self.logs.get(connection.whom.server as usize);
        let Some(given) = find(server, log, head, bounds, self.now_ms, may_renew) else {
            return false;
        };
        let Given { answer, asked, .. } = &given;
        self.begin_own(connection);
        let Some(Some(server)) = self.servers.get(connection.whom.server as usize) else {
            return false;
        };
        let connection_lines = if given.keeps_alive {
            &server.keep_alive_lines[..]
        } else {
            &b"\r\nConnection: close\r\n"[..]
        };
        let (lines, tail, body) = match (given.is_not_modified, is_head) {
            (true, _) => (answer.not_modified(), &b""[..], &b""[..]),
            // The length of a body that is not sent is written where the owner has said it, as node:http does.
            (false, true) => (answer.head(), &b""[..], &b""[..]),
            (false, false) => (answer.head(), answer.tail(), answer.body()),
        };
        let queue = connection.answers.queue();
        queue.extend_from_slice(lines);
        queue.extend_from_slice(b"Date: ");
        queue.extend_from_slice(self.date.at(self.now_ms));
        queue.extend_from_slice(connection_lines);
        queue.extend_from_slice(tail);
        queue.extend_from_slice(b"\r\n");
        if body.len() < LARGE {
            queue.extend_from_slice(body);
        } else {
            connection.answers.lend_body(Arc::clone(answer));
        }
        let url = &head[bounds.line.url_start..bounds.line.url_end];
        if let Some(own) = &server.answers {
            let counts = &own.store.counts;
            counts.add(answer_count::HITS, 1);
            if given.is_stale {
                counts.add(answer_count::STALE_HITS, 1);
            }
            if given.is_not_modified {
                counts.add(answer_count::NOT_MODIFIED, 1);
            }
        }
        if given.is_logged {
            let answered = Answered {
                is_head,
                url,
                status: sent_status(answer, given.is_not_modified),
                id: asked.noted.map(|place| place.of(&head[bounds.line.end..])),
                took: Took::Since(self.read_at),
            };
            self.write_line(connection.whom, &answered);
        }

        connection.head_since = 0;
        connection.head = None;
        connection.idle_since = 0;
        if !given.keeps_alive {
            connection.stage = Stage::Closing;
        }
        connection.answers.skip_request();
        self.rest(connection);
        true
    }
}

fn sent_status(answer: &KeptAnswer, is_not_modified: bool) -> u16 {
    if is_not_modified {
        304
    } else {
        answer.status()
    }
}

/// Looks the target up before anything else is: most requests of a server that keeps a few answers are for others.
fn find(
    server: &mut Server,
    log: Option<&LineLog>,
    head: &[u8],
    bounds: Bounds,
    now_ms: u64,
    may_renew: bool,
) -> Option<Given> {
    let OwnAnswers { store, blocks } = server.answers.as_mut()?;
    if store.is_empty() {
        return None;
    }
    let url = &head[bounds.line.url_start..bounds.line.url_end];
    let shelf = store.read();
    let found = shelf.find(url)?;

    let block = &head[bounds.line.end..];
    let asked = blocks.read(block, server.noted.as_deref())?;
    let limits = server.settings.limits();
    let flags = flags(&asked.facts, bounds.line.minor, false);
    let is_plain = framing(&asked.facts, limits).is_none()
        && asked.facts.expect.is_none()
        && !asked.facts.upgrade
        && !asked.is_special
        && flags & request_flags::HOST_MISSING == 0
        && !asked.facts.exceed(url.len(), limits);
    if !is_plain {
        return None;
    }
    let entry = match found {
        Found::Answer(entry) => entry,
        Found::Plan(plan) => shelf.find_planned(&plan.key_of(url, block)?)?,
    };
    let is_theirs = match entry.identity {
        Identity::Anonymous => !asked.has_cookie && !asked.has_credentials,
        Identity::AnyCookies => !asked.has_credentials,
        Identity::Public | Identity::Header | Identity::Cookie => true,
    };
    if !is_theirs {
        return None;
    }
    let is_not_modified = match asked.if_none_match {
        // Frameworks do not agree on what a cache directive makes of the condition.
        Some(_) if asked.has_cache_control => return None,
        Some(place) => entry.answer.is_named_by(place.of(block)),
        None if asked.if_modified_since && entry.answer.has_last_modified() => return None,
        None => false,
    };
    // To such a client node:http adds no length, and closes behind what has none.
    if bounds.line.minor == 0 && (is_not_modified || !entry.answer.tail().is_empty()) {
        return None;
    }
    let is_logged = entry.answer.line() != 0;
    if is_logged {
        match log?.admission(sent_status(&entry.answer, is_not_modified), url) {
            Admission::Given => {}
            Admission::Owner => return None,
            Admission::Full => {
                store.counts.add(answer_count::LOG_FULL, 1);
                return None;
            }
        }
    }
    let is_stale = match entry.freshness(now_ms, may_renew) {
        Freshness::Fresh => false,
        Freshness::Stale => true,
        Freshness::Due | Freshness::Gone => return None,
    };
    entry.note_use();
    Some(Given {
        answer: Arc::clone(&entry.answer),
        asked,
        is_stale,
        is_not_modified,
        keeps_alive: flags & request_flags::KEEP_ALIVE != 0,
        is_logged,
    })
}
