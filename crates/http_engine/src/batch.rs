//! The records of a batch, as [`crate::wire`] lays them out.

use std::collections::HashSet;

use crate::wire::{close, drop, error, kind, lines, pair, record, timeout};

/// Bytes of notes that may wait until the owner has time: the notes themselves, and what they bring along.
const MOST_WAITING: usize = if cfg!(test) {
    64 * 1024
} else {
    4 * 1024 * 1024
};
/// No record but that of a request, a body or its end is longer, in words.
const LONGEST_NOTE: usize = 16;
/// Words kept free for records that cannot wait.
const RESERVE: usize = 256;

/// What a record is about.
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
        /// The number its response would have, or [`error::NO_PLACE`].
        place: u32,
        packet: Vec<u8>,
    },
    /// `inactive`: not between two requests, but without any activity.
    Timeout {
        inactive: bool,
    },
    End,
    /// A part of a file is over.
    File,
    Close {
        errno: u32,
    },
    Drop {
        text: String,
    },
    /// Lines of the engine's own answers wait; `are_due`: they are to be taken at once.
    Lines {
        are_due: bool,
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
    /// JavaScript is reading it: nothing may be written.
    pub locked: bool,
    /// A turn of the engine is filling it.
    filling: bool,
    waiting: Vec<(Whom, Note)>,
    /// Bytes of what waits.
    waiting_bytes: usize,
}

impl Note {
    /// Bytes of input that its record needs.
    fn bytes(&self) -> usize {
        match self {
            Self::Error { packet, .. } => packet.len(),
            Self::Drop { text } => text.len(),
            _ => 0,
        }
    }

    /// Bytes that it takes while it waits.
    fn size(&self) -> usize {
        size_of::<(Whom, Self)>() + self.bytes()
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
        self.waiting_bytes = self.waiting.iter().map(|(_, note)| note.size()).sum();
    }

    /// Nothing more fits into this batch.
    pub fn end(&mut self) {
        self.filling = false;
    }

    /// So much is waiting that nothing more should be read or accepted until some of it has been reported.
    pub fn is_overdue(&self) -> bool {
        self.waiting_bytes >= MOST_WAITING
    }

    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Slots with something waiting.
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
        // While the owner is busy, thousands may send garbage: each is reported, without its bytes. How many, the engine bounds:
        // it accepts no connection while this is overdue.
        if self.is_overdue()
            && let Note::Error { packet, .. } = &mut note
        {
            *packet = Vec::new();
        }
        self.waiting_bytes += note.size();
        self.waiting.push((whom, note));
    }

    fn try_note(&mut self, whom: Whom, note: Note) -> Option<Note> {
        if self.words + LONGEST_NOTE > self.records_length
            || self.bytes + note.bytes() > self.input_length
        {
            return Some(note);
        }
        match note {
            Note::Open => self.put(kind::OPEN, whom, &[]),
            Note::Drain => self.put(kind::DRAIN, whom, &[]),
            Note::Timeout { inactive } => {
                self.put(
                    kind::TIMEOUT,
                    whom,
                    &[(timeout::IS_INACTIVE, inactive.into())],
                );
            }
            Note::End => self.put(kind::END, whom, &[]),
            Note::File => self.put(kind::FILE, whom, &[]),
            Note::Lines { are_due } => {
                self.put(kind::LINES, whom, &[(lines::ARE_DUE, are_due.into())]);
            }
            Note::Stopped => self.put(kind::STOPPED, whom, &[]),
            Note::Close { errno } => self.put(kind::CLOSE, whom, &[(close::ERRNO, errno)]),
            Note::Error {
                code,
                at,
                place,
                packet,
            } => {
                let offset = self.copy(&packet);
                self.put(
                    kind::ERROR,
                    whom,
                    &[
                        (error::PROBLEM, code),
                        (error::BYTES_PARSED, at),
                        (error::PACKET_OFFSET, offset as u32),
                        (error::PACKET_LENGTH, packet.len() as u32),
                        (error::PLACE, place),
                    ],
                );
            }
            Note::Drop { text } => {
                let offset = self.copy(text.as_bytes());
                self.put(
                    kind::DROP,
                    whom,
                    &[
                        (drop::TEXT_OFFSET, offset as u32),
                        (drop::TEXT_LENGTH, text.len() as u32),
                    ],
                );
            }
        }
        None
    }

    /// Writes a record that is known to fit: its start, and all its words behind that, each with its place.
    pub fn put(&mut self, kind: u32, whom: Whom, words: &[(usize, u32)]) {
        let length = record::WORDS + words.len();
        self.start(kind, whom, length);
        for (place, word) in words {
            debug_assert!((record::WORDS..length).contains(place));
            self.set(*place, *word);
        }
        self.words += length;
    }

    /// Writes the start of a record that is known to fit; [`Batch::set`] writes the rest, and then `words` moves.
    pub fn start(&mut self, kind: u32, whom: Whom, length: usize) {
        self.set(
            record::KIND_AND_LENGTH,
            kind | (length as u32) << pair::SECOND_SHIFT,
        );
        self.set(record::SLOT, whom.slot);
        self.set(record::GENERATION, whom.generation);
        self.set(record::SERVER, whom.server);
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
        // The bytes of one packet are over the limit.
        const FLOOD: usize = 1000;
        for _ in 0..FLOOD {
            let packet = vec![b'x'; 64 * 1024];
            batch.note(
                whom,
                Note::Error {
                    code: 0,
                    at: 0,
                    place: error::NO_PLACE,
                    packet,
                },
            );
        }
        assert!(batch.is_overdue());
        assert!(
            batch.waiting_bytes <= MOST_WAITING + 64 * 1024 + FLOOD * size_of::<(Whom, Note)>()
        );
        let mut told = 0;
        while batch.has_waiting() {
            batch.begin();
            batch.end();
            told += batch.words / error::WORDS;
        }
        assert_eq!(told, FLOOD);
        assert!(!batch.is_overdue());
    }
}
