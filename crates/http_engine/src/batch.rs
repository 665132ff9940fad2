//! The records of a batch, as [`crate::wire`] lays them out.

use std::collections::HashSet;

use crate::wire::{close, drop, error, kind, lines, pair, record, timeout};

/// Max bytes of events that wait until the owner reads them: the events themselves, and their data.
const MAX_WAITING_BYTES: usize = if cfg!(test) {
    64 * 1024
} else {
    4 * 1024 * 1024
};
/// Max words of a record, except those of a request, a body or its end.
const MAX_EVENT_WORDS: usize = 16;
/// Words kept free for records that cannot wait.
const RESERVED_WORDS: usize = 256;

/// A connection, or with the slot `u32::MAX` a server alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConnectionId {
    pub slot: u32,
    pub generation: u32,
    pub server: u32,
}

/// A record that may have to wait for the next batch.
#[derive(Debug)]
pub(crate) enum Event {
    Open,
    Drain,
    Error {
        code: u32,
        at: u32,
        /// The number of its response, or [`error::NO_PLACE`].
        place: u32,
        packet: Vec<u8>,
    },
    /// `inactive`: for lack of any activity, otherwise between two requests.
    Timeout {
        inactive: bool,
    },
    End,
    /// A file range has ended.
    File,
    Close {
        errno: u32,
    },
    Drop {
        text: String,
    },
    /// Log lines of the engine's own responses wait; `are_due`: the owner should take them at once.
    Lines {
        are_due: bool,
    },
    Stopped,
}

/// The memory of a batch. The pointers outlive the engine.
pub(crate) struct Batch {
    records: *mut u32,
    records_length: usize,
    input: *mut u8,
    input_length: usize,
    /// Words used.
    pub words: usize,
    /// Bytes of input used.
    pub bytes: usize,
    /// True while JavaScript reads the batch: nothing may be written.
    pub locked: bool,
    /// True while a turn of the engine fills it.
    filling: bool,
    waiting: Vec<(ConnectionId, Event)>,
    /// Bytes of the waiting events.
    waiting_bytes: usize,
}

impl Event {
    /// Returns the bytes of input that its record needs.
    fn bytes(&self) -> usize {
        match self {
            Self::Error { packet, .. } => packet.len(),
            Self::Drop { text } => text.len(),
            _ => 0,
        }
    }

    /// Returns the bytes it occupies while it waits.
    fn size(&self) -> usize {
        size_of::<(ConnectionId, Self)>() + self.bytes()
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
        for (id, event) in waiting.by_ref() {
            if let Some(event) = self.try_report(id, event) {
                self.waiting.push((id, event));
                break;
            }
        }
        self.waiting.extend(waiting);
        self.waiting_bytes = self.waiting.iter().map(|(_, event)| event.size()).sum();
    }

    /// Closes the batch: records from now on wait for the next.
    pub fn end(&mut self) {
        self.filling = false;
    }

    /// Returns true if so much is waiting that the engine must stop reading and accepting until some of it has been reported.
    pub fn is_overdue(&self) -> bool {
        self.waiting_bytes >= MAX_WAITING_BYTES
    }

    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Returns the slots of waiting events.
    pub fn waiting_slots(&self) -> HashSet<u32> {
        self.waiting.iter().map(|(id, _)| id.slot).collect()
    }

    /// Returns true if a record of `words` and `bytes` fits now.
    pub fn has_room(&self, words: usize, bytes: usize) -> bool {
        self.filling
            && self.waiting.is_empty()
            && self.words + words + RESERVED_WORDS <= self.records_length
            && self.bytes + bytes <= self.input_length
    }

    /// Returns true if it would fit in an empty batch.
    pub fn can_hold(&self, words: usize, bytes: usize) -> bool {
        words + RESERVED_WORDS <= self.records_length && bytes <= self.input_length / 2
    }

    /// Returns the max bytes of an event's data: an event that no batch can hold would keep all later ones waiting forever.
    pub fn max_packet(&self) -> usize {
        self.input_length
    }

    pub fn free_bytes(&self) -> usize {
        self.input_length - self.bytes
    }

    pub fn report(&mut self, id: ConnectionId, event: Event) {
        if !self.filling || !self.waiting.is_empty() {
            self.defer(id, event);
        } else if let Some(event) = self.try_report(id, event) {
            self.defer(id, event);
        }
    }

    fn defer(&mut self, id: ConnectionId, mut event: Event) {
        // While the owner is busy, thousands of clients may send garbage: each is reported, without its bytes. The engine bounds
        // their number: it accepts no connection while this is overdue.
        if self.is_overdue()
            && let Event::Error { packet, .. } = &mut event
        {
            *packet = Vec::new();
        }
        self.waiting_bytes += event.size();
        self.waiting.push((id, event));
    }

    fn try_report(&mut self, id: ConnectionId, event: Event) -> Option<Event> {
        if self.words + MAX_EVENT_WORDS > self.records_length
            || self.bytes + event.bytes() > self.input_length
        {
            return Some(event);
        }
        match event {
            Event::Open => self.put(kind::OPEN, id, &[]),
            Event::Drain => self.put(kind::DRAIN, id, &[]),
            Event::Timeout { inactive } => {
                self.put(
                    kind::TIMEOUT,
                    id,
                    &[(timeout::IS_INACTIVE, inactive.into())],
                );
            }
            Event::End => self.put(kind::END, id, &[]),
            Event::File => self.put(kind::FILE, id, &[]),
            Event::Lines { are_due } => {
                self.put(kind::LINES, id, &[(lines::ARE_DUE, are_due.into())]);
            }
            Event::Stopped => self.put(kind::STOPPED, id, &[]),
            Event::Close { errno } => self.put(kind::CLOSE, id, &[(close::ERRNO, errno)]),
            Event::Error {
                code,
                at,
                place,
                packet,
            } => {
                let offset = self.copy(&packet);
                self.put(
                    kind::ERROR,
                    id,
                    &[
                        (error::PROBLEM, code),
                        (error::BYTES_PARSED, at),
                        (error::PACKET_OFFSET, offset as u32),
                        (error::PACKET_LENGTH, packet.len() as u32),
                        (error::PLACE, place),
                    ],
                );
            }
            Event::Drop { text } => {
                let offset = self.copy(text.as_bytes());
                self.put(
                    kind::DROP,
                    id,
                    &[
                        (drop::TEXT_OFFSET, offset as u32),
                        (drop::TEXT_LENGTH, text.len() as u32),
                    ],
                );
            }
        }
        None
    }

    /// Writes a record that is known to fit: its start, and then all its words, each with its place.
    pub fn put(&mut self, kind: u32, id: ConnectionId, words: &[(usize, u32)]) {
        let length = record::WORDS + words.len();
        self.start(kind, id, length);
        for (place, word) in words {
            debug_assert!((record::WORDS..length).contains(place));
            self.set(*place, *word);
        }
        self.words += length;
    }

    /// Writes the start of a record that is known to fit; the caller writes the rest with [`Batch::set`], and then advances
    /// `words`.
    pub fn start(&mut self, kind: u32, id: ConnectionId, length: usize) {
        self.set(
            record::KIND_AND_LENGTH,
            kind | (length as u32) << pair::SECOND_SHIFT,
        );
        self.set(record::SLOT, id.slot);
        self.set(record::GENERATION, id.generation);
        self.set(record::SERVER, id.server);
    }

    /// Writes a word of the record being written.
    pub fn set(&mut self, index: usize, word: u32) {
        assert!(self.words + index < self.records_length);
        // SAFETY: inside the memory, which is the batch's while it is not locked.
        unsafe { self.records.add(self.words + index).write(word) };
    }

    /// Copies bytes that are known to fit, and returns their offset.
    pub fn copy(&mut self, bytes: &[u8]) -> usize {
        let offset = self.bytes;
        assert!(offset + bytes.len() <= self.input_length);
        // SAFETY: inside the memory, which no Rust slice refers to.
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
        let id = ConnectionId {
            slot: 0,
            generation: 1,
            server: 0,
        };
        // The bytes of one packet are over the limit.
        const FLOOD: usize = 1000;
        for _ in 0..FLOOD {
            let packet = vec![b'x'; 64 * 1024];
            batch.report(
                id,
                Event::Error {
                    code: 0,
                    at: 0,
                    place: error::NO_PLACE,
                    packet,
                },
            );
        }
        assert!(batch.is_overdue());
        assert!(
            batch.waiting_bytes
                <= MAX_WAITING_BYTES + 64 * 1024 + FLOOD * size_of::<(ConnectionId, Event)>()
        );
        let mut reported = 0;
        while batch.has_waiting() {
            batch.begin();
            batch.end();
            reported += batch.words / error::WORDS;
        }
        assert_eq!(reported, FLOOD);
        assert!(!batch.is_overdue());
    }
}
