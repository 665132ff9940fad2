//! Requests that the engine responds to by itself.

use std::sync::Arc;

use telemetry_ring::wire::end;

use crate::cache_headers::CacheHeaders;
use crate::connection::{Connection, Stage};
use crate::engine::Engine;
use crate::head::Bounds;
use crate::line_log::{Admission, LineLog, LoggedResponse, ResponseTime};
use crate::method;
use crate::request::{flags, framing};
use crate::server::Server;
use crate::server_store::ServerStore;
use crate::store::{Found, Freshness, Identity};
use crate::stored_response::StoredResponse;
use crate::wire::{answer_count, header, request, request_flags};

/// From this size on, in bytes, a body is sent in place.
const MIN_IN_PLACE: usize = 16 * 1024;
/// Upper bound on headers for the room check: a request with this many headers surely fits.
const MAX_HEADERS: usize = 128;

/// A kept response, and how it is sent.
struct Hit {
    response: Arc<StoredResponse>,
    headers: CacheHeaders,
    is_stale: bool,
    is_not_modified: bool,
    keeps_alive: bool,
    is_logged: bool,
}

impl Engine {
    /// Responds from the store. Only for a valid request without a body that is first in line.
    pub(crate) fn serve_from_store(
        &mut self,
        connection: &mut Box<Connection>,
        head: &[u8],
        bounds: Bounds,
    ) -> bool {
        let is_head = bounds.line.method == method::HEAD;
        if bounds.line.method != method::GET && !is_head || connection.responses.in_flight() > 0 {
            return false;
        }
        let Some(Some(server)) = self.servers.get_mut(connection.id.server as usize) else {
            return false;
        };
        // A request that is let through to renew a response must reach the owner.
        let words = request::HEADERS + MAX_HEADERS * header::WORDS;
        let may_renew = !is_head && !self.batch.locked && self.batch.has_room(words, head.len());
        let log = self.logs.get(connection.id.server as usize);
        let Some(hit) = find_hit(server, log, head, bounds, self.now_ms, may_renew) else {
            return false;
        };
        let Hit {
            response, headers, ..
        } = &hit;
        self.prepare_queue(connection);
        let Some(Some(server)) = self.servers.get(connection.id.server as usize) else {
            return false;
        };
        let connection_lines = if hit.keeps_alive {
            &server.keep_alive_lines[..]
        } else {
            &b"\r\nConnection: close\r\n"[..]
        };
        let (lines, tail, body) = match (hit.is_not_modified, is_head) {
            (true, _) => (response.not_modified(), &b""[..], &b""[..]),
            // The length of a body that is not sent is written if the owner has set it, as node:http does.
            (false, true) => (response.head(), &b""[..], &b""[..]),
            (false, false) => (response.head(), response.tail(), response.body()),
        };
        let queue = connection.responses.queue();
        queue.extend_from_slice(lines);
        queue.extend_from_slice(b"Date: ");
        queue.extend_from_slice(self.date.at(self.now_ms));
        queue.extend_from_slice(connection_lines);
        queue.extend_from_slice(tail);
        queue.extend_from_slice(b"\r\n");
        if body.len() < MIN_IN_PLACE {
            queue.extend_from_slice(body);
        } else {
            connection.responses.push_stored_body(Arc::clone(response));
        }
        let url = &head[bounds.line.url_start..bounds.line.url_end];
        if let Some(store) = &server.store {
            let counts = &store.responses.counts;
            counts.add(answer_count::HITS, 1);
            if hit.is_stale {
                counts.add(answer_count::STALE_HITS, 1);
            }
            if hit.is_not_modified {
                counts.add(answer_count::NOT_MODIFIED, 1);
            }
        }
        if hit.is_logged {
            let logged = LoggedResponse {
                is_head,
                url,
                status: sent_status(response, hit.is_not_modified),
                id: headers
                    .request_id
                    .map(|span| span.of(&head[bounds.line.end..])),
                took: ResponseTime::Since(self.read_at),
            };
            self.write_line(connection.id, &logged);
        }

        connection.head_since = 0;
        connection.head = None;
        connection.idle_since = 0;
        if !hit.keeps_alive {
            connection.stage = Stage::Closing;
        }
        let sequence = connection.responses.skip_request();
        if let Some(exchanges) = &self.exchanges {
            let status = sent_status(&hit.response, hit.is_not_modified);
            let route = hit.response.route_in(exchanges.ring);
            let facts = u32::from(status) << end::STATUS_SHIFT | route;
            self.observe_kept(connection, sequence, head, &bounds.line, facts);
        }
        self.on_idle(connection);
        true
    }
}

fn sent_status(response: &StoredResponse, is_not_modified: bool) -> u16 {
    if is_not_modified {
        304
    } else {
        response.status()
    }
}

/// Looks the target up before anything else: most requests of a server that keeps a few responses are for other targets.
fn find_hit(
    server: &mut Server,
    log: Option<&LineLog>,
    head: &[u8],
    bounds: Bounds,
    now_ms: u64,
    may_renew: bool,
) -> Option<Hit> {
    let ServerStore {
        responses: store,
        blocks,
    } = server.store.as_mut()?;
    if store.is_empty() {
        return None;
    }
    let url = &head[bounds.line.url_start..bounds.line.url_end];
    let contents = store.read();
    let found = contents.find(url)?;

    let block = &head[bounds.line.end..];
    let headers = blocks.read(block, server.id_header.as_deref())?;
    let limits = server.settings.limits();
    let flags = flags(&headers.facts, bounds.line.minor, false);
    let is_plain = framing(&headers.facts, limits).is_none()
        && headers.facts.expect.is_none()
        && !headers.facts.upgrade
        && !headers.needs_owner
        && flags & request_flags::HOST_MISSING == 0
        && !headers.facts.exceed(url.len(), limits);
    if !is_plain {
        return None;
    }
    let entry = match found {
        Found::Response(entry) => entry,
        Found::Plan(plan) => contents.find_planned(&plan.key_of(url, block)?)?,
    };
    let may_receive = match entry.identity {
        Identity::Anonymous => !headers.has_cookie && !headers.has_credentials,
        Identity::AnyCookies => !headers.has_credentials,
        Identity::Public | Identity::Header | Identity::Cookie => true,
    };
    if !may_receive {
        return None;
    }
    let is_not_modified = match headers.if_none_match {
        // Frameworks disagree on how a cache directive affects the condition.
        Some(_) if headers.has_cache_control => return None,
        Some(span) => entry.response.is_named_by(span.of(block)),
        None if headers.if_modified_since && entry.response.has_last_modified() => return None,
        None => false,
    };
    // To such a client node:http adds no length, and closes the connection after a response without one.
    if bounds.line.minor == 0 && (is_not_modified || !entry.response.tail().is_empty()) {
        return None;
    }
    let is_logged = entry.response.line() != 0;
    if is_logged {
        match log?.admission(sent_status(&entry.response, is_not_modified), url) {
            Admission::Engine => {}
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
        Freshness::Renew | Freshness::Expired => return None,
    };
    entry.mark_used();
    Some(Hit {
        response: Arc::clone(&entry.response),
        headers,
        is_stale,
        is_not_modified,
        keeps_alive: flags & request_flags::KEEP_ALIVE != 0,
        is_logged,
    })
}
