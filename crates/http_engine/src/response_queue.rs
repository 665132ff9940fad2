//! The send queue of a connection: responses in the order of their requests, in whatever order they are written.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::file::FilePart;
use crate::framing::{self, Wrap};
use crate::stored_response::StoredResponse;

/// Bytes written for a request that is not the first in line.
#[derive(Default)]
struct LaterResponse {
    bytes: Vec<u8>,
    ended: bool,
    close: bool,
    /// The facts that came with its end.
    facts: u32,
}

#[derive(Default)]
pub(crate) struct ResponseQueue {
    /// Unsent bytes; those before `sent` have been sent.
    queue: Vec<u8>,
    sent: usize,
    /// One unsent piece that still lies in the memory shared with the owner, when the queue is empty. It is sent or copied before
    /// the end of the call that took its command: after that the owner writes there again.
    pub shared: Option<&'static [u8]>,
    /// The body of a kept response, sent after the queue, with the number of bytes already sent.
    stored: Option<(Arc<StoredResponse>, usize)>,
    /// A range of a file, sent after the queue, with the bytes that follow it.
    pub file: Option<Box<FilePart>>,
    /// Bytes sent of the last finished file range.
    pub file_sent: u64,
    /// The number of the next request.
    next: u32,
    /// The number of the request whose response is being sent.
    current: u32,
    /// Responses after the current one. Only a pipeline needs it.
    #[allow(clippy::box_collection)]
    later: Option<Box<VecDeque<LaterResponse>>>,
}

/// The turn of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    Now,
    Later,
    /// Its response has ended, or it never existed.
    Never,
}

impl ResponseQueue {
    pub fn add_request(&mut self) -> u32 {
        let sequence = self.next;
        self.next = self.next.wrapping_add(1);
        sequence
    }

    /// Skips the number of a request whose response ended before it was reported, and returns it.
    pub fn skip_request(&mut self) -> u32 {
        self.current = self.current.wrapping_add(1);
        self.add_request()
    }

    /// Returns the number of the last request.
    pub fn last_request(&self) -> u32 {
        self.next.wrapping_sub(1)
    }

    pub fn in_flight(&self) -> u32 {
        self.next.wrapping_sub(self.current)
    }

    /// Returns the number of bytes that the kernel has not taken.
    pub fn unsent(&self) -> usize {
        let file = self.file.as_ref();
        self.queue.len() - self.sent
            + self.shared.map_or(0, <[u8]>::len)
            + self.stored_body().len()
            + file.map_or(0, |file| file.remaining() as usize + file.bytes_after.len())
    }

    /// Returns true if the file range is next in line.
    pub fn is_file_next(&self) -> bool {
        self.file.is_some() && self.queued().is_empty() && self.stored_body().is_empty()
    }

    /// Ends the file range, complete or not: the bytes after it are next.
    pub fn end_file(&mut self) {
        if let Some(file) = self.file.take() {
            self.file_sent = file.sent;
            self.queue.extend_from_slice(&file.bytes_after);
        }
    }

    /// Returns the buffer for bytes that follow all others.
    fn tail(&mut self) -> &mut Vec<u8> {
        match &mut self.file {
            Some(file) => &mut file.bytes_after,
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

    /// Returns the unsent bytes of the queue.
    pub fn queued(&self) -> &[u8] {
        &self.queue[self.sent..]
    }

    /// Returns the unsent part of a body in the store.
    pub fn stored_body(&self) -> &[u8] {
        match &self.stored {
            Some((response, sent)) => &response.body()[*sent..],
            None => &[],
        }
    }

    /// Sends the body of a kept response from the store, after the queue.
    pub fn push_stored_body(&mut self, response: Arc<StoredResponse>) {
        match &mut self.file {
            Some(file) => file.bytes_after.extend_from_slice(response.body()),
            None => self.stored = Some((response, 0)),
        }
    }

    /// Returns the buffer for bytes of the engine's own.
    pub fn queue(&mut self) -> &mut Vec<u8> {
        self.copy_borrowed();
        self.tail()
    }

    /// Appends bytes to the response in turn.
    pub fn push(&mut self, bytes: &[u8], wrap: Wrap) {
        self.copy_borrowed();
        framing::append(self.tail(), bytes, wrap);
    }

    /// Copies the unsent shared piece and the body in the store, so that bytes can be queued after them.
    pub fn copy_borrowed(&mut self) {
        if let Some(bytes) = self.shared.take() {
            self.queue.extend_from_slice(bytes);
        }
        if let Some((response, sent)) = self.stored.take() {
            self.queue.extend_from_slice(&response.body()[sent..]);
        }
    }

    /// Appends bytes to a response that has to wait.
    pub fn push_later(&mut self, sequence: u32, bytes: &[u8], wrap: Wrap, close: bool, facts: u32) {
        let place = sequence.wrapping_sub(self.current) as usize - 1;
        let later = self.later.get_or_insert_default();
        if later.len() <= place {
            later.resize_with(place + 1, LaterResponse::default);
        }
        let entry = &mut later[place];
        framing::append(&mut entry.bytes, bytes, wrap);
        entry.ended |= wrap.end;
        entry.close |= close;
        entry.facts |= facts;
    }

    /// Ends the response in turn, and queues those after it that are ready: `each` receives the sequence and the facts of those
    /// that have ended too. Returns true if one of these closes the connection.
    pub fn end(&mut self, mut each: impl FnMut(u32, u32)) -> bool {
        loop {
            self.current = self.current.wrapping_add(1);
            let Some(next) = self.later.as_mut().and_then(|list| list.pop_front()) else {
                self.later = None;
                return false;
            };
            if !next.bytes.is_empty() {
                self.copy_borrowed();
                self.tail().extend_from_slice(&next.bytes);
            }
            if !next.ended {
                return false;
            }
            each(self.current, next.facts);
            if next.close {
                self.close();
                return true;
            }
        }
    }

    /// Ends the response in turn, and drops those after it: nothing follows a response that closes the connection.
    pub fn close(&mut self) {
        self.later = None;
        self.current = self.next;
    }

    /// Removes bytes that the kernel has taken, from the queue and then from the body after it.
    pub fn advance(&mut self, sent: usize) {
        let queued = sent.min(self.queued().len());
        if let Some((response, gone)) = &mut self.stored {
            *gone += sent - queued;
            if *gone == response.body().len() {
                self.stored = None;
            }
        }
        self.sent += queued;
        if self.sent == self.queue.len() {
            self.sent = 0;
            self.queue.clear();
        } else if self.sent > 256 * 1024 && self.sent > self.queue.len() / 2 {
            // Only from half of the queue on: no more is moved than was sent, however long the queue is.
            self.queue.drain(..self.sent);
            self.sent = 0;
        }
    }

    /// Replaces everything unsent by `rest`.
    pub fn replace(&mut self, rest: Vec<u8>) {
        self.shared = None;
        self.stored = None;
        self.sent = 0;
        self.queue = rest;
    }

    /// Takes away the queue's memory when it is not needed: idle connections hold none.
    pub fn take_buffer(&mut self) -> Option<Vec<u8>> {
        (self.queue.is_empty() && self.queue.capacity() > 0)
            .then(|| std::mem::take(&mut self.queue))
    }

    /// Reuses memory taken from another connection.
    pub fn set_buffer(&mut self, buffer: Vec<u8>) {
        self.queue = buffer;
    }

    pub fn needs_buffer(&self) -> bool {
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
    fn later_responses_wait_for_their_turn() {
        let mut responses = ResponseQueue::default();
        let first = responses.add_request();
        let second = responses.add_request();
        let third = responses.add_request();
        assert_eq!(responses.turn(second), Turn::Later);
        responses.push_later(third, b"three", END, false, 3);
        responses.push_later(second, b"two", END, false, 2);
        assert_eq!(responses.turn(first), Turn::Now);
        responses.push(b"one", END);
        let mut ended = Vec::new();
        assert!(!responses.end(|sequence, facts| ended.push((sequence, facts))));
        assert_eq!(ended, [(second, 2), (third, 3)]);
        assert_eq!(responses.queued(), b"onetwothree");
        assert_eq!(responses.in_flight(), 0);
        assert_eq!(responses.turn(third), Turn::Never);
    }

    #[test]
    fn a_response_that_closes_is_the_last_one() {
        let mut responses = ResponseQueue::default();
        responses.add_request();
        let second = responses.add_request();
        let third = responses.add_request();
        responses.push_later(second, b"bye", END, true, 0);
        responses.push_later(third, b"never", END, false, 0);
        assert!(responses.end(|_, _| {}));
        assert_eq!(responses.queued(), b"bye");
        assert_eq!(responses.turn(third), Turn::Never);
    }

    #[test]
    fn nothing_follows_a_response_that_closes() {
        let mut responses = ResponseQueue::default();
        responses.add_request();
        let second = responses.add_request();
        responses.push_later(second, b"never", END, false, 0);
        responses.push(b"bye", END);
        responses.close();
        assert_eq!(responses.queued(), b"bye");
        assert_eq!(responses.in_flight(), 0);
    }

    #[test]
    fn chunks_are_framed() {
        let mut responses = ResponseQueue::default();
        responses.add_request();
        responses.push(&[b'x'; 26], CHUNK);
        responses.push(b"", CHUNK);
        responses.push(
            b"",
            Wrap {
                chunk: true,
                end: true,
                trailers: false,
            },
        );
        assert_eq!(
            responses.queued(),
            b"1a\r\nxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n0\r\n\r\n"
        );
    }

    #[test]
    fn trailers_follow_the_last_chunk() {
        let mut responses = ResponseQueue::default();
        responses.add_request();
        let wrap = Wrap {
            chunk: true,
            end: true,
            trailers: true,
        };
        responses.push(b"a: b\r\n", wrap);
        assert_eq!(responses.queued(), b"0\r\na: b\r\n\r\n");
    }

    #[test]
    fn what_lies_in_shared_memory_goes_first() {
        let mut responses = ResponseQueue::default();
        responses.add_request();
        responses.shared = Some(b"abc");
        assert_eq!(responses.unsent(), 3);
        responses.push(b"def", Wrap::default());
        assert_eq!(responses.queued(), b"abcdef");
    }

    #[test]
    fn a_long_queue_is_not_moved_for_every_part_of_it_that_is_sent() {
        const PART: usize = 300 * 1024;
        let mut responses = ResponseQueue::default();
        responses.add_request();
        responses.push(&vec![b'x'; 16 * PART], END);
        let start = responses.queued().as_ptr().addr();
        for sent in 1..8 {
            responses.advance(PART);
            assert_eq!(responses.queued().as_ptr().addr(), start + sent * PART);
        }
        responses.advance(2 * PART);
        assert_eq!(responses.queued().as_ptr().addr(), start);
        assert_eq!(responses.unsent(), 7 * PART);
    }
}
