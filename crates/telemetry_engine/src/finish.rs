//! The end of a request: a count, and a span.

use std::time::Duration;

use crate::exchange::{Exchange, Peer, Route};
use crate::metrics::{Key, Outcome, RouteNumber};
use crate::server_span::ServerSpan;
use crate::shared::Shared;

/// Counts a request, and writes its span if it is sampled.
pub(crate) fn finish(
    exchange: &Exchange,
    at: Duration,
    peer: Option<&Peer>,
    route: Option<&Route>,
    shared: &mut Shared,
) {
    let outcome = match exchange.ended {
        Some(ended) => Outcome::Status(ended.status),
        None => Outcome::Closed,
    };
    let key = Key {
        method: exchange.method,
        is_tls: exchange.how.is_tls,
        is_http_10: exchange.how.is_http_10,
        outcome,
        route: route.map_or(RouteNumber::None, |route| route.number),
    };
    let duration = at.saturating_sub(exchange.read_at);
    shared.metrics.end(key, duration.as_secs_f64());
    let Some(traced) = &exchange.traced else {
        return;
    };
    let changes = exchange.changes.as_ref();
    let changed = changes.and_then(|changes| changes.is_sampled);
    if !changed.unwrap_or(traced.is_sampled) {
        return;
    }
    let mut out = std::mem::take(&mut shared.scratch);
    out.clear();
    ServerSpan {
        exchange,
        traced,
        outcome,
        route: route.map(|route| &*route.pattern),
        peer,
        started: shared.clock.epoch(exchange.read_at),
        ended: shared.clock.epoch(exchange.read_at + duration),
        settings: &shared.settings,
    }
    .write(&mut out);
    shared.queue.add(shared.scope, &out);
    shared.scratch = out;
}
