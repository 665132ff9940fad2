//! A request and its response.

use std::sync::Arc;
use std::time::Duration;

use telemetry_ring::Record;
use telemetry_ring::ids::{Place, span_id, trace_id};
use telemetry_ring::wire::begin;

use crate::changes::Changes;
use crate::head::{Connected, Head};
use crate::method::Method;
use crate::metrics::RouteNumber;
use crate::shared::Shared;
use crate::trace_parent::TraceParent;

/// The other end of a connection.
pub(crate) struct Peer {
    /// `network.peer.address` and `network.peer.port`, as fields of a span.
    pub attributes: Vec<u8>,
    /// `client.address`, likewise.
    pub client: Vec<u8>,
}

/// A route of an application.
pub(crate) struct Route {
    pub pattern: Box<str>,
    pub number: RouteNumber,
}

/// The trace of a request.
pub(crate) struct Traced {
    pub head: Arc<Head>,
    pub trace_id: [u8; 16],
    pub span_id: [u8; 8],
    pub parent: Option<TraceParent>,
    pub is_sampled: bool,
}

/// The end of a response.
#[derive(Clone, Copy)]
pub(crate) struct Ended {
    pub status: u16,
    /// The number of the route, or 0.
    pub route: u32,
}

/// A request that is under way.
pub(crate) struct Exchange {
    pub sequence: u32,
    pub method: Method,
    pub how: Connected,
    pub read_at: Duration,
    /// The request line without its version.
    pub line: Vec<u8>,
    /// `None` without a head: only counted.
    pub traced: Option<Traced>,
    pub changes: Option<Box<Changes>>,
    /// Set when the response has ended, but was not sent yet.
    pub ended: Option<Ended>,
}

impl Exchange {
    /// Reads a BEGIN. `line` is room for the request line.
    pub fn begin(
        record: Record<'_>,
        place: Place,
        seed: &[u32; 6],
        mut line: Vec<u8>,
        shared: &mut Shared,
    ) -> Self {
        let length = record.word(begin::LINE_LENGTH) as usize;
        let block_length = record.word(begin::BLOCK_LENGTH) as usize;
        let bytes = record.bytes(begin::BYTES, length.saturating_add(block_length));
        let (request_line, block) = bytes.split_at(length.min(bytes.len()));
        let flags = record.word(begin::FLAGS);
        let how = Connected {
            is_tls: flags & begin::IS_TLS != 0,
            is_http_10: flags & begin::HTTP_10 != 0,
        };
        let space = memchr::memchr(b' ', request_line);
        let method = Method::of(&request_line[..space.unwrap_or(request_line.len())]);
        line.clear();
        line.extend_from_slice(request_line);
        let traced = space.is_some().then(|| {
            let (head, parent) = shared.heads.read(block, how);
            let trace_id = match parent {
                Some(parent) => parent.trace_id,
                None => bytes_of(trace_id(seed, place)),
            };
            let decision = parent.map(|parent| parent.is_sampled);
            Traced {
                head,
                is_sampled: shared.sampling.is_sampled(&trace_id, decision),
                trace_id,
                span_id: bytes_of(span_id(seed, place)),
                parent,
            }
        });
        shared.metrics.begin(method, how);
        Self {
            sequence: place.sequence,
            method,
            how,
            read_at: record.time(begin::READ_AT),
            line,
            traced,
            changes: None,
            ended: None,
        }
    }

    /// The number of its route, or 0.
    pub fn route(&self) -> u32 {
        let changed = self.changes.as_ref().and_then(|changes| changes.route);
        changed.or(self.ended.map(|ended| ended.route)).unwrap_or(0)
    }
}

/// An id in the order in which it is shown.
fn bytes_of<const WORDS: usize, const BYTES: usize>(words: [u32; WORDS]) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    bytes.copy_from_slice(words.map(u32::to_be_bytes).as_flattened());
    bytes
}
