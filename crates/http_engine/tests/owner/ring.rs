//! A telemetry ring in tests, and the facts that an engine has written to it.

use telemetry_ring::wire::{begin, close, end, kind, level, peer, refused, ring};
use telemetry_ring::{Reader, Record, Writer};

use super::{Id, Owner};

/// The facts of a record, without its times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    Peer(Id, String, u32),
    /// Sequence, line, block, flags.
    Begin(Id, u32, String, String, u32),
    /// Sequence, status and route, flags; true if it was sent.
    End(Id, u32, (u32, u32), u32, bool),
    Sent(Id),
    Close(Id, u32),
    Refused(Id, u32, String),
}

/// The memory of a ring, with its reader.
pub struct Ring {
    words: Box<[u32]>,
    reader: Reader,
}

impl Ring {
    /// Creates a ring of so many words for records.
    pub fn new(capacity: usize, wanted: u32) -> Self {
        let mut words = vec![0; ring::FIRST_RECORD + capacity].into_boxed_slice();
        words[ring::VERSION] = ring::LAYOUT;
        words[ring::LEVEL] = wanted;
        // SAFETY: the box lives beside the reader, and is not moved from its place.
        let reader = unsafe { Reader::new(words.as_mut_ptr(), words.len()) };
        Self {
            words,
            reader: reader.expect("a ring"),
        }
    }

    /// Creates one with room for all, for heads too.
    pub fn of_heads() -> Self {
        Self::new(64 * 1024, level::HEADS)
    }

    /// Has an engine write to it, for as long as that is used or until it is observed by another.
    pub fn observe(&mut self, owner: &mut Owner) {
        // SAFETY: a test lets its engine do nothing once the ring is dropped, and writes through it alone.
        let writer = unsafe { Writer::new(self.words.as_mut_ptr(), self.words.len()) };
        owner.engine.observe(Some(writer.expect("a ring")));
    }

    pub fn take_lost(&mut self) -> u32 {
        self.reader.take_lost()
    }

    /// Returns the facts that were written since the last call; each END is checked to lie between BEGIN and its sending.
    pub fn facts(&mut self) -> Vec<Fact> {
        let mut facts = Vec::new();
        let written = self.reader.written();
        self.reader.read_until(written, |record| {
            facts.push(fact(record));
        });
        assert!(!self.reader.is_broken());
        facts
    }
}

fn fact(record: Record<'_>) -> Fact {
    let word = |index: usize| record.word(index);
    let text = |index: usize, length: u32| {
        let bytes = record.bytes(index, length as usize);
        bytes.iter().map(|byte| *byte as char).collect::<String>()
    };
    let id = Id {
        slot: word(begin::SLOT),
        generation: word(begin::GENERATION),
    };
    match record.kind {
        kind::PEER => Fact::Peer(id, text(peer::BYTES, word(peer::LENGTH)), word(peer::PORT)),
        kind::BEGIN => {
            assert!(!record.time(begin::READ_AT).is_zero());
            let line = text(begin::BYTES, word(begin::LINE_LENGTH));
            let all = text(
                begin::BYTES,
                word(begin::LINE_LENGTH) + word(begin::BLOCK_LENGTH),
            );
            let block = all[line.len()..].to_owned();
            Fact::Begin(id, word(begin::SEQUENCE), line, block, word(begin::FLAGS))
        }
        kind::END => {
            let ended_at = record.time(end::ENDED_AT);
            let sent_at = record.time(end::SENT_AT);
            assert!(!ended_at.is_zero());
            assert!(sent_at.is_zero() || sent_at >= ended_at);
            let facts = word(end::STATUS_AND_ROUTE);
            let split = (facts >> end::STATUS_SHIFT, facts & end::MAX_ROUTE);
            let is_sent = !sent_at.is_zero();
            Fact::End(id, word(end::SEQUENCE), split, word(end::FLAGS), is_sent)
        }
        kind::SENT => {
            assert!(!record.time(close::AT).is_zero());
            Fact::Sent(id)
        }
        kind::CLOSE => {
            assert!(!record.time(close::AT).is_zero());
            Fact::Close(id, word(close::ERRNO))
        }
        kind::REFUSED => {
            let read_at = record.time(refused::READ_AT);
            assert!(!read_at.is_zero() && read_at <= record.time(refused::REFUSED_AT));
            let code = text(refused::BYTES, word(refused::LENGTH));
            Fact::Refused(id, word(refused::STATUS), code)
        }
        kind => panic!("a record of kind {kind}"),
    }
}

/// Returns the word of the facts of a response.
pub fn facts(status: u32, route: u32) -> u32 {
    status << end::STATUS_SHIFT | route
}
