//! What a connection has to send: answers in the order of their requests, whatever the order they are written in.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::file::FilePart;
use crate::kept_answer::KeptAnswer;

/// What was written for a request that is not the first in line.
#[derive(Default)]
struct Waiting {
    bytes: Vec<u8>,
    ended: bool,
    close: bool,
}

#[derive(Default)]
pub(crate) struct Answers {
    /// Unsent bytes; those before `sent` are gone.
    queue: Vec<u8>,
    sent: usize,
    /// One unsent piece that still lies in the memory shared with the owner, when the queue is empty. It is sent or copied
    /// before the call ends that took its command: then the owner writes there again.
    pub shared: Option<&'static [u8]>,
    /// Sent after the queue: the body of a kept answer, and how much of it has left.
    body: Option<(Arc<KeptAnswer>, usize)>,
    /// Sent after the queue: a part of a file, and the bytes behind it.
    pub file: Option<Box<FilePart>>,
    /// How many bytes have left of the last one that is over.
    pub moved: u64,
    /// The number the next request gets.
    next: u32,
    /// The number of the request whose response is being sent.
    current: u32,
    /// Behind the current one. Only a pipeline needs it.
    #[allow(clippy::box_collection)]
    waiting: Option<Box<VecDeque<Waiting>>>,
}

/// How the bytes of a write are wrapped.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wrap {
    pub chunk: bool,
    pub end: bool,
    /// The bytes are trailer lines behind the last chunk.
    pub trailers: bool,
}

/// The line before a chunk.
pub(crate) struct SizeLine {
    bytes: [u8; 18],
    start: usize,
}

impl SizeLine {
    pub fn new(size: usize) -> Self {
        let mut bytes = *b"0000000000000000\r\n";
        let mut start = 16;
        let mut rest = size;
        loop {
            start -= 1;
            bytes[start] = b"0123456789abcdef"[rest & 15];
            rest >>= 4;
            if rest == 0 {
                return Self { bytes, start };
            }
        }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
}

/// What goes before and behind the bytes.
pub(crate) fn wrapping(
    length: usize,
    wrap: Wrap,
) -> (Option<SizeLine>, &'static [u8], &'static [u8]) {
    if wrap.trailers {
        return (None, b"0\r\n", b"\r\n");
    }
    match (wrap.chunk && length > 0, wrap.chunk && wrap.end) {
        (true, true) => (Some(SizeLine::new(length)), b"", b"\r\n0\r\n\r\n"),
        (true, false) => (Some(SizeLine::new(length)), b"", b"\r\n"),
        (false, true) => (None, b"", b"0\r\n\r\n"),
        (false, false) => (None, b"", b""),
    }
}

fn append(to: &mut Vec<u8>, bytes: &[u8], wrap: Wrap) {
    let (size, before, behind) = wrapping(bytes.len(), wrap);
    if let Some(size) = size {
        to.extend_from_slice(size.bytes());
    }
    to.extend_from_slice(before);
    to.extend_from_slice(bytes);
    to.extend_from_slice(behind);
}

/// Whose turn a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    Now,
    Later,
    /// It has been answered, or never existed.
    Never,
}

impl Answers {
    pub fn add_request(&mut self) -> u32 {
        let sequence = self.next;
        self.next = self.next.wrapping_add(1);
        sequence
    }

    /// A request that was answered before it was reported.
    pub fn skip_request(&mut self) {
        self.next = self.next.wrapping_add(1);
        self.current = self.current.wrapping_add(1);
    }

    pub fn in_flight(&self) -> u32 {
        self.next.wrapping_sub(self.current)
    }

    /// Bytes that the kernel has not taken.
    pub fn unsent(&self) -> usize {
        let file = self.file.as_ref();
        self.queue.len() - self.sent
            + self.shared.map_or(0, <[u8]>::len)
            + self.lent().len()
            + file.map_or(0, |file| file.left() as usize + file.behind.len())
    }

    /// The part of a file is next.
    pub fn is_file_next(&self) -> bool {
        self.file.is_some() && self.queued().is_empty() && self.lent().is_empty()
    }

    /// The part of a file is over, however much of it has left: what was behind it is next.
    pub fn end_file(&mut self) {
        if let Some(file) = self.file.take() {
            self.moved = file.moved;
            self.queue.extend_from_slice(&file.behind);
        }
    }

    /// The place of bytes that follow all others.
    fn tail(&mut self) -> &mut Vec<u8> {
        match &mut self.file {
            Some(file) => &mut file.behind,
            None => &mut self.queue,
        }
    }

    pub fn turn(&self, sequence: u32) -> Turn {
        if sequence == self.current && self.in_flight() > 0 {
            Turn::Now
        } else if sequence.wrapping_sub(self.current) < self.in_flight() {
            Turn::Later
        } else {
            Turn::Never
        }
    }

    /// The bytes that lie in the queue.
    pub fn queued(&self) -> &[u8] {
        &self.queue[self.sent..]
    }

    /// The unsent part of a body in the store.
    pub fn lent(&self) -> &[u8] {
        match &self.body {
            Some((answer, sent)) => &answer.body()[*sent..],
            None => &[],
        }
    }

    /// Sends the body of a kept answer from the store, after what is in the queue.
    pub fn lend_body(&mut self, answer: Arc<KeptAnswer>) {
        match &mut self.file {
            Some(file) => file.behind.extend_from_slice(answer.body()),
            None => self.body = Some((answer, 0)),
        }
    }

    /// For bytes of the engine's own.
    pub fn queue(&mut self) -> &mut Vec<u8> {
        self.own();
        self.tail()
    }

    /// Adds bytes to the response in turn.
    pub fn push(&mut self, bytes: &[u8], wrap: Wrap) {
        self.own();
        append(self.tail(), bytes, wrap);
    }

    /// Copies the body in the store, so that something can be queued after it.
    pub fn own(&mut self) {
        if let Some(bytes) = self.shared.take() {
            self.queue.extend_from_slice(bytes);
        }
        if let Some((answer, sent)) = self.body.take() {
            self.queue.extend_from_slice(&answer.body()[sent..]);
        }
    }

    /// Adds bytes to a response that has to wait.
    pub fn push_later(&mut self, sequence: u32, bytes: &[u8], wrap: Wrap, close: bool) {
        let place = sequence.wrapping_sub(self.current) as usize - 1;
        let waiting = self.waiting.get_or_insert_default();
        if waiting.len() <= place {
            waiting.resize_with(place + 1, Waiting::default);
        }
        let entry = &mut waiting[place];
        append(&mut entry.bytes, bytes, wrap);
        entry.ended |= wrap.end;
        entry.close |= close;
    }

    /// Ends the response in turn, and takes up those behind it. Says whether one of these closes the connection.
    pub fn end(&mut self) -> bool {
        loop {
            self.current = self.current.wrapping_add(1);
            let Some(next) = self.waiting.as_mut().and_then(|list| list.pop_front()) else {
                self.waiting = None;
                return false;
            };
            if !next.bytes.is_empty() {
                self.own();
                self.tail().extend_from_slice(&next.bytes);
            }
            if !next.ended {
                return false;
            }
            if next.close {
                self.close();
                return true;
            }
        }
    }

    /// Ends the response in turn, and drops those behind it: nothing follows a response that closes the connection.
    pub fn close(&mut self) {
        self.waiting = None;
        self.current = self.next;
    }

    /// The kernel has taken so many bytes of the queue and the body after it.
    pub fn advance(&mut self, sent: usize) {
        let queued = sent.min(self.queued().len());
        if let Some((answer, gone)) = &mut self.body {
            *gone += sent - queued;
            if *gone == answer.body().len() {
                self.body = None;
            }
        }
        self.sent += queued;
        if self.sent == self.queue.len() {
            self.sent = 0;
            self.queue.clear();
        } else if self.sent > 256 * 1024 && self.sent > self.queue.len() / 2 {
            // At half of it: what is moved is no more than what was sent, however long the queue is.
            self.queue.drain(..self.sent);
            self.sent = 0;
        }
    }

    /// Everything unsent is in `rest` now.
    pub fn replace(&mut self, rest: Vec<u8>) {
        self.shared = None;
        self.body = None;
        self.sent = 0;
        self.queue = rest;
    }

    /// Gives away the queue's memory when it is not needed: idle connections hold none.
    pub fn take_memory(&mut self) -> Option<Vec<u8>> {
        (self.queue.is_empty() && self.queue.capacity() > 0)
            .then(|| std::mem::take(&mut self.queue))
    }

    /// Gets memory that another connection gave away.
    pub fn give_memory(&mut self, memory: Vec<u8>) {
        self.queue = memory;
    }

    pub fn needs_memory(&self) -> bool {
        self.queue.capacity() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHUNK: Wrap = Wrap {
        chunk: true,
        end: false,
        trailers: false,
    };
    const END: Wrap = Wrap {
        chunk: false,
        end: true,
        trailers: false,
    };

    #[test]
    fn later_answers_wait_for_their_turn() {
        let mut answers = Answers::default();
        let first = answers.add_request();
        let second = answers.add_request();
        let third = answers.add_request();
        assert_eq!(answers.turn(second), Turn::Later);
        answers.push_later(third, b"three", END, false);
        answers.push_later(second, b"two", END, false);
        assert_eq!(answers.turn(first), Turn::Now);
        answers.push(b"one", END);
        assert!(!answers.end());
        assert_eq!(answers.queued(), b"onetwothree");
        assert_eq!(answers.in_flight(), 0);
        assert_eq!(answers.turn(third), Turn::Never);
    }

    #[test]
    fn an_answer_that_closes_is_the_last_one() {
        let mut answers = Answers::default();
        answers.add_request();
        let second = answers.add_request();
        let third = answers.add_request();
        answers.push_later(second, b"bye", END, true);
        answers.push_later(third, b"never", END, false);
        assert!(answers.end());
        assert_eq!(answers.queued(), b"bye");
        assert_eq!(answers.turn(third), Turn::Never);
    }

    #[test]
    fn nothing_follows_an_answer_that_closes() {
        let mut answers = Answers::default();
        answers.add_request();
        let second = answers.add_request();
        answers.push_later(second, b"never", END, false);
        answers.push(b"bye", END);
        answers.close();
        assert_eq!(answers.queued(), b"bye");
        assert_eq!(answers.in_flight(), 0);
    }

    #[test]
    fn chunks_are_framed() {
        let mut answers = Answers::default();
        answers.add_request();
        answers.push(&[b'x'; 26], CHUNK);
        answers.push(b"", CHUNK);
        answers.push(
            b"",
            Wrap {
                chunk: true,
                end: true,
                trailers: false,
            },
        );
        assert_eq!(
            answers.queued(),
            b"1a\r\nxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n0\r\n\r\n"
        );
    }

    #[test]
    fn trailers_follow_the_last_chunk() {
        let mut answers = Answers::default();
        answers.add_request();
        let wrap = Wrap {
            chunk: true,
            end: true,
            trailers: true,
        };
        answers.push(b"a: b\r\n", wrap);
        assert_eq!(answers.queued(), b"0\r\na: b\r\n\r\n");
    }

    #[test]
    fn what_lies_in_shared_memory_goes_first() {
        let mut answers = Answers::default();
        answers.add_request();
        answers.shared = Some(b"abc");
        assert_eq!(answers.unsent(), 3);
        answers.push(b"def", Wrap::default());
        assert_eq!(answers.queued(), b"abcdef");
    }

    #[test]
    fn a_long_queue_is_not_moved_for_every_part_of_it_that_is_sent() {
        const PART: usize = 300 * 1024;
        let mut answers = Answers::default();
        answers.add_request();
        answers.push(&vec![b'x'; 16 * PART], END);
        let start = answers.queued().as_ptr().addr();
        for sent in 1..8 {
            answers.advance(PART);
            assert_eq!(answers.queued().as_ptr().addr(), start + sent * PART);
        }
        answers.advance(2 * PART);
        assert_eq!(answers.queued().as_ptr().addr(), start);
        assert_eq!(answers.unsent(), 7 * PART);
    }
}
