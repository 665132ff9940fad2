//! The records of a batch, as `docs/design/http.md` lays them out.

use std::collections::HashSet;

/// What a record is about; the low byte of its first word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[allow(missing_docs)]
pub enum Kind {
    Open = 1,
    Request = 2,
    Body = 3,
    BodyEnd = 4,
    Drain = 5,
    Error = 6,
    Timeout = 7,
    Close = 8,
    Drop = 9,
    Stopped = 10,
    End = 11,
}

/// Flags of a request, above the method in their word.
#[allow(missing_docs)]
pub mod request_flags {
    pub const BODY_NONE: u32 = 1;
    pub const BODY_COMPLETE: u32 = 1 << 1;
    pub const BODY_CHUNKED: u32 = 1 << 2;
    pub const KEEP_ALIVE: u32 = 1 << 3;
    pub const HTTP_10: u32 = 1 << 4;
    pub const EXPECT_CONTINUE: u32 = 1 << 5;
    pub const EXPECT_OTHER: u32 = 1 << 6;
    pub const UPGRADE: u32 = 1 << 7;
    pub const CONNECT: u32 = 1 << 8;
    pub const HOST_MISSING: u32 = 1 << 9;
}

/// Words before the headers of a request.
pub(crate) const REQUEST_WORDS: usize = 15;
/// Words of every record's begin: kind and length, slot, generation, server.
pub(crate) const START_WORDS: usize = 4;
/// Words of an error's record.
pub(crate) const ERROR_WORDS: usize = START_WORDS + 5;
/// Bytes of bad packets that may wait until the owner has time.
const MOST_WAITING: usize = 4 * 1024 * 1024;
/// What is wrong is not about a request behind others.
pub(crate) const NO_PLACE: u32 = u32::MAX;
/// Words kept free for records that cannot wait.
const RESERVE: usize = 256;

/// Who a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Whom {
    pub slot: u32,
    pub generation: u32,
    pub server: u32,
}

/// A record that may have to wait for the next batch.
#[derive(Debug)]
pub(crate) enum Note {
    Open,
    Drain,
    Error {
        code: u32,
        at: u32,
        /// The number its answer would have, or [`NO_PLACE`].
        place: u32,
        packet: Vec<u8>,
    },
    /// `inactive`: not between two requests, but without any activity.
    Timeout {
        inactive: bool,
    },
    End,
    Close {
        errno: u32,
    },
    Drop {
        text: String,
    },
    Stopped,
}

/// The memory a batch is written to. The pointers outlive the engine.
pub(crate) struct Batch {
    records: *mut u32,
    records_length: usize,
    input: *mut u8,
    input_length: usize,
    /// Words used.
    pub words: usize,
    /// Bytes of input used.
    pub bytes: usize,
    /// JavaScript reads it: nothing may be written.
    pub locked: bool,
    /// A turn of the engine fills it.
    filling: bool,
    waiting: Vec<(Whom, Note)>,
    /// Bytes of packets among what waits.
    waiting_bytes: usize,
}

impl Note {
    fn bytes(&self) -> usize {
        match self {
            Self::Error { packet, .. } => packet.len(),
            Self::Drop { text } => text.len(),
            _ => 0,
        }
    }
}

impl Batch {
    /// # Safety
    /// The memory is valid as long as the batch, and only the batch writes to it.
    pub unsafe fn new(
        records: *mut u32,
        records_length: usize,
        input: *mut u8,
        input_length: usize,
    ) -> Self {
        Self {
            records,
            records_length,
            input,
            input_length,
            words: 0,
            bytes: 0,
            locked: false,
            filling: false,
            waiting: Vec::new(),
            waiting_bytes: 0,
        }
    }

    pub fn begin(&mut self) {
        debug_assert!(!self.locked);
        self.filling = true;
        self.words = 0;
        self.bytes = 0;
        let mut waiting = std::mem::take(&mut self.waiting).into_iter();
        for (whom, note) in waiting.by_ref() {
            if let Some(note) = self.try_note(whom, note) {
                self.waiting.push((whom, note));
                break;
            }
        }
        self.waiting.extend(waiting);
        self.waiting_bytes = self.waiting.iter().map(|(_, note)| note.bytes()).sum();
    }

    /// Nothing more goes into this batch.
    pub fn end(&mut self) {
        self.filling = false;
    }

    /// So much waits that nothing more should be read before some of it was reported.
    pub fn is_overdue(&self) -> bool {
        self.waiting_bytes >= MOST_WAITING
    }

    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Slots of which something waits.
    pub fn untold(&self) -> HashSet<u32> {
        self.waiting.iter().map(|(whom, _)| whom.slot).collect()
    }

    /// Whether a record of `words` and `bytes` fits now.
    pub fn has_room(&self, words: usize, bytes: usize) -> bool {
        self.filling
            && self.waiting.is_empty()
            && self.words + words + RESERVE <= self.records_length
            && self.bytes + bytes <= self.input_length
    }

    /// Whether it would fit in an empty batch.
    pub fn can_hold(&self, words: usize, bytes: usize) -> bool {
        words + RESERVE <= self.records_length && bytes <= self.input_length / 2
    }

    /// How many bytes a note may bring along: one that no batch can hold would keep all behind it waiting forever.
    pub fn longest_packet(&self) -> usize {
        self.input_length
    }

    pub fn free_bytes(&self) -> usize {
        self.input_length - self.bytes
    }

    pub fn note(&mut self, whom: Whom, note: Note) {
        if !self.filling || !self.waiting.is_empty() {
            self.wait(whom, note);
        } else if let Some(note) = self.try_note(whom, note) {
            self.wait(whom, note);
        }
    }

    fn wait(&mut self, whom: Whom, mut note: Note) {
        // While the owner is busy thousands may send nonsense: each is reported, without its bytes.
        if self.is_overdue()
            && let Note::Error { packet, .. } = &mut note
        {
            *packet = Vec::new();
        }
        self.waiting_bytes += note.bytes();
        self.waiting.push((whom, note));
    }

    fn try_note(&mut self, whom: Whom, note: Note) -> Option<Note> {
        if self.words + 16 > self.records_length || self.bytes + note.bytes() > self.input_length {
            return Some(note);
        }
        match note {
            Note::Open => self.put(Kind::Open, whom, &[]),
            Note::Drain => self.put(Kind::Drain, whom, &[]),
            Note::Timeout { inactive } => self.put(Kind::Timeout, whom, &[inactive.into()]),
            Note::End => self.put(Kind::End, whom, &[]),
            Note::Stopped => self.put(Kind::Stopped, whom, &[]),
            Note::Close { errno } => self.put(Kind::Close, whom, &[errno]),
            Note::Error {
                code,
                at,
                place,
                packet,
            } => {
                let offset = self.copy(&packet);
                self.put(
                    Kind::Error,
                    whom,
                    &[code, at, offset as u32, packet.len() as u32, place],
                );
            }
            Note::Drop { text } => {
                let offset = self.copy(text.as_bytes());
                self.put(Kind::Drop, whom, &[offset as u32, text.len() as u32]);
            }
        }
        None
    }

    /// Writes a record that is known to fit.
    pub fn put(&mut self, kind: Kind, whom: Whom, words: &[u32]) {
        let length = START_WORDS + words.len();
        self.start(kind, whom, length);
        for (index, word) in words.iter().enumerate() {
            self.set(START_WORDS + index, *word);
        }
        self.words += length;
    }

    /// Writes the begin of a record that is known to fit; [`Batch::set`] writes the rest, and then `words` moves.
    pub fn start(&mut self, kind: Kind, whom: Whom, length: usize) {
        self.set(0, kind as u32 | (length as u32) << 8);
        self.set(1, whom.slot);
        self.set(2, whom.generation);
        self.set(3, whom.server);
    }

    /// A word of the record that is being written.
    pub fn set(&mut self, index: usize, word: u32) {
        assert!(self.words + index < self.records_length);
        // SAFETY: inside the memory, which is the batch's while it is not locked.
        unsafe { self.records.add(self.words + index).write(word) };
    }

    /// Copies bytes that are known to fit, and says where they are.
    pub fn copy(&mut self, bytes: &[u8]) -> usize {
        let offset = self.bytes;
        assert!(offset + bytes.len() <= self.input_length);
        // SAFETY: inside the memory, which no slice of Rust's points at.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.input.add(offset), bytes.len());
        }
        self.bytes += bytes.len();
        offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_errors_takes_no_more_memory_than_it_may() {
        let mut records = vec![0; 1024];
        let mut input = vec![0; 128 * 1024];
        // SAFETY: the vectors outlive the batch.
        let mut batch =
            unsafe { Batch::new(records.as_mut_ptr(), 1024, input.as_mut_ptr(), 128 * 1024) };
        let whom = Whom {
            slot: 0,
            generation: 1,
            server: 0,
        };
        const FLOOD: usize = 1000;
        for _ in 0..FLOOD {
            let packet = vec![b'x'; 64 * 1024];
            batch.note(
                whom,
                Note::Error {
                    code: 0,
                    at: 0,
                    place: NO_PLACE,
                    packet,
                },
            );
        }
        assert!(batch.is_overdue());
        assert!(batch.waiting_bytes <= MOST_WAITING + 64 * 1024);
        let mut told = 0;
        while batch.has_waiting() {
            batch.begin();
            batch.end();
            // 9 words each.
            told += batch.words / 9;
        }
        assert_eq!(told, FLOOD);
        assert!(!batch.is_overdue());
    }
}
