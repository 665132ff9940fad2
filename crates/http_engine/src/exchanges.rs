//! The facts of exchanges as records of a telemetry ring, and the state of a connection that they depend on.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use telemetry_ring::Writer;
use telemetry_ring::wire::{begin, close, end, kind, level, peer, refused};

use crate::address::Address;
use crate::batch::ConnectionId;
use crate::head::RequestLine;
use crate::method::METHODS;
use crate::problem::{PROBLEMS, ProblemKind};
use crate::wire::command;

// The owner's word is the ring's.
const _: () = assert!(command::STATUS_SHIFT == end::STATUS_SHIFT);

/// The end of a response, not written yet.
#[derive(Clone, Copy, Debug)]
struct Ending {
    sequence: u32,
    facts: u32,
    flags: u32,
}

/// The state of a connection that is observed.
#[derive(Debug, Default)]
pub(crate) struct Observed {
    /// Number of requests without an END.
    pub open: u32,
    /// PEER was written.
    pub has_peer: bool,
    /// The last request is a CONNECT.
    pub is_connect: bool,
    /// An END was written without SENT_AT.
    pub awaits_sent: bool,
    /// Responses that have ended since the last flush.
    endings: Vec<Ending>,
}

impl Observed {
    /// Returns the state of a connection with so many requests in flight.
    pub fn with_open(open: u32) -> Self {
        Self {
            open,
            ..Self::default()
        }
    }

    /// Notes the end of a response. A refusal has no facts, and no request.
    pub fn end(&mut self, sequence: u32, facts: u32, flags: u32) {
        if facts == 0 {
            return;
        }
        self.open = self.open.saturating_sub(1);
        self.endings.push(Ending {
            sequence,
            facts,
            flags,
        });
    }

    pub fn has_endings(&self) -> bool {
        !self.endings.is_empty()
    }
}

/// The ring of an observer.
pub(crate) struct Exchanges {
    writer: Writer,
    /// Identifies the ring in the process, from 1 on.
    pub ring: u32,
}

impl Exchanges {
    pub fn new(writer: Writer) -> Self {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let ring = LAST.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        Self { writer, ring }
    }

    /// Writes a record: its words, the first of which the writer knows, and its bytes. Returns false if it is not written.
    fn put(&mut self, kind: u32, words: &[u32], bytes: &[&[u8]]) -> bool {
        self.writer.level() != level::NOTHING && self.writer.put(kind, &words[1..], bytes)
    }

    /// Writes PEER. Returns false if it has to be written later.
    pub fn peer(&mut self, id: ConnectionId, address: Option<&Address>) -> bool {
        let (text, port) = match address {
            Some(Address::Ip(ip)) => (ip.ip().to_string(), ip.port()),
            _ => (String::new(), 0),
        };
        let mut words = [0; peer::BYTES];
        words[peer::SLOT] = id.slot;
        words[peer::GENERATION] = id.generation;
        words[peer::PORT] = port.into();
        words[peer::LENGTH] = text.len() as u32;
        self.put(kind::PEER, &words, &[text.as_bytes()])
    }

    /// Writes BEGIN for a complete and valid head.
    pub fn begin(
        &mut self,
        (id, sequence): (ConnectionId, u32),
        read_at: Duration,
        head: &[u8],
        line: &RequestLine,
    ) {
        let method = &head[..METHODS[usize::from(line.method)].len()];
        let (target, lines) = if self.writer.level() == level::HEADS {
            // One space of those before the target, and no empty line.
            let target = &head[line.url_start - 1..line.url_end];
            (target, &head[line.end..head.len() - 2])
        } else {
            (&[][..], &[][..])
        };
        let mut words = [0; begin::BYTES];
        words[begin::SLOT] = id.slot;
        words[begin::GENERATION] = id.generation;
        words[begin::SEQUENCE] = sequence;
        set_time(&mut words, begin::READ_AT, read_at);
        words[begin::LINE_LENGTH] = (method.len() + target.len()) as u32;
        words[begin::BLOCK_LENGTH] = lines.len() as u32;
        words[begin::FLAGS] = if line.minor == 0 { begin::HTTP_10 } else { 0 };
        self.put(kind::BEGIN, &words, &[method, target, lines]);
    }

    /// Writes END for each response that has ended. `sent_at` is missing if bytes are left to send.
    pub fn ends(
        &mut self,
        id: ConnectionId,
        observed: &mut Observed,
        ended_at: Duration,
        sent_at: Option<Duration>,
    ) {
        let mut words = [0; end::WORDS];
        words[end::SLOT] = id.slot;
        words[end::GENERATION] = id.generation;
        set_time(&mut words, end::ENDED_AT, ended_at);
        set_time(&mut words, end::SENT_AT, sent_at.unwrap_or_default());
        observed.awaits_sent |= sent_at.is_none() && observed.has_endings();
        for ending in observed.endings.drain(..) {
            words[end::SEQUENCE] = ending.sequence;
            words[end::STATUS_AND_ROUTE] = ending.facts;
            words[end::FLAGS] = ending.flags;
            self.put(kind::END, &words, &[]);
        }
    }

    /// Writes SENT.
    pub fn sent(&mut self, id: ConnectionId, at: Duration) {
        self.over(kind::SENT, id, at, 0);
    }

    /// Writes CLOSE.
    pub fn close(&mut self, id: ConnectionId, at: Duration, errno: u32) {
        self.over(kind::CLOSE, id, at, errno);
    }

    fn over(&mut self, kind: u32, id: ConnectionId, at: Duration, errno: u32) {
        let mut words = [0; close::WORDS];
        words[close::SLOT] = id.slot;
        words[close::GENERATION] = id.generation;
        set_time(&mut words, close::AT, at);
        words[close::ERRNO] = errno;
        self.put(kind, &words, &[]);
    }

    /// Writes REFUSED.
    pub fn refused(
        &mut self,
        id: ConnectionId,
        problem: ProblemKind,
        read_at: Duration,
        refused_at: Duration,
    ) {
        let (code, _) = PROBLEMS[problem as usize];
        let mut words = [0; refused::BYTES];
        words[refused::SLOT] = id.slot;
        words[refused::GENERATION] = id.generation;
        set_time(&mut words, refused::READ_AT, read_at);
        set_time(&mut words, refused::REFUSED_AT, refused_at);
        words[refused::STATUS] = nodes_status(problem);
        words[refused::LENGTH] = code.len() as u32;
        self.put(kind::REFUSED, &words, &[code.as_bytes()]);
    }
}

/// Returns the status with which Node's server refuses a request.
fn nodes_status(problem: ProblemKind) -> u32 {
    match problem {
        ProblemKind::HeaderOverflow => 431,
        ProblemKind::ExtensionOverflow => 413,
        ProblemKind::Timeout => 408,
        _ => 400,
    }
}

fn set_time(words: &mut [u32], at: usize, time: Duration) {
    words[at] = time.as_secs() as u32;
    words[at + 1] = time.subsec_nanos();
}
