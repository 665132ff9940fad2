//! A turn: ready descriptors are processed, and become a batch that the owner reads.

use std::time::Duration;

use super::{Engine, LISTENER, TIMER, WAKEUP};
use crate::connection::Wait;
use crate::sys;

/// The result of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Polled {
    /// Words of records waiting to be read.
    pub words: usize,
    /// Number of descriptors that were readable.
    pub received: usize,
    /// True if there is more to do at once.
    pub more: bool,
}

/// Number of reads of a lone connection after which the kernel is polled for other events.
const MAX_LONE_POLLS: u32 = 16;

impl Engine {
    /// Does everything possible without waiting, and fills a batch. While the batch is locked, only work that needs no record is
    /// done.
    pub fn poll(&mut self) -> Polled {
        self.begin_turn();
        let polled = self.poll_share(1);
        if !self.early_ends.is_empty() {
            self.wakeup.notify();
        }
        polled
    }

    /// Begins a new turn of the owner's loop. Half-closes seen in the turn of their last bytes are processed now, so that
    /// responses written at the end of that turn were still sent. libuv, too, reads no further in such a turn.
    pub fn begin_turn(&mut self) {
        // Records that the owner has not read yet belong to its current turn.
        if self.batch.locked {
            return;
        }
        self.turn = self.turn.wrapping_add(1);
        for id in std::mem::take(&mut self.early_ends) {
            self.with(id.slot, id.generation, |engine, connection| {
                // Paused since then: it is read again when it resumes.
                if connection.wants_read() {
                    engine.on_client_end(connection);
                }
            });
        }
    }

    /// Returns true if a client's end waits for the owner's next turn.
    #[must_use]
    pub fn has_early_ends(&self) -> bool {
        !self.early_ends.is_empty()
    }

    /// Polls like [`Engine::poll`], for one of `shares` parts of the ready events if these are few. When the responses of a part
    /// leave before the next is processed, the clients have their next requests ready by the time the last part is done.
    pub fn poll_share(&mut self, shares: usize) -> Polled {
        self.update_clock();
        if !self.batch.locked {
            self.run_deferred();
            self.batch.begin();
            self.resume_accepting();
        }
        let stalled = if self.batch.locked {
            Vec::new()
        } else {
            std::mem::take(&mut self.stalled)
        };
        for id in stalled {
            self.with(id.slot, id.generation, |engine, connection| {
                engine.continue_reading(connection);
            });
        }
        self.ready.begin_share(&self.epoll, shares);
        let mut received = 0;
        let mut was_cleared = false;
        while self.batch.locked || !self.batch.is_overdue() {
            let Some((events, token)) = self.ready.next() else {
                break;
            };
            received += usize::from(events & libc::EPOLLIN != 0);
            match token {
                WAKEUP => {
                    self.wakeup.clear();
                    was_cleared = true;
                }
                TIMER => self.run_timers(),
                token if token & LISTENER != 0 => self.accept((token & !LISTENER) as u32),
                token => self.on_event(token as u32, (token >> 32) as u32, events),
            }
        }
        self.batch.end();
        // A notification during this turn, before the event of an earlier one, must not be cleared with it.
        let is_due = !self.stalled.is_empty() || !self.ended.is_empty();
        if was_cleared && is_due && !self.batch.locked {
            self.wakeup.notify();
        }
        // Responses of the engine's own.
        self.send_dirty();
        Polled {
            words: if self.batch.locked {
                0
            } else {
                self.batch.words
            },
            received,
            more: self.ready.has_more() || self.batch.has_waiting() || !self.stalled.is_empty(),
        }
    }

    /// Polls like [`Engine::poll`], for a lone connection with nothing else to do: it is read without polling the kernel,
    /// repeatedly until `max_poll` is over. Returns `None` if nothing arrived; then the kernel must be polled.
    pub fn poll_lone(&mut self, max_poll: Duration) -> Option<Polled> {
        let is_lone = self.connections == 1
            && !self.batch.locked
            && !self.batch.has_waiting()
            && !self.ready.has_more()
            && self.stalled.is_empty()
            && self.ended.is_empty()
            && self.upgrading.is_empty();
        // Listeners and timers get their turn, however busy the connection is.
        if !is_lone || self.lone_polls >= MAX_LONE_POLLS {
            self.lone_polls = 0;
            return None;
        }
        let (slot, generation) = self.last_read;
        self.lone_polls += 1;
        self.update_clock();
        self.batch.begin();
        let start = self.read_at;
        let mut has_read = false;
        loop {
            self.with(slot, generation, |engine, connection| {
                if connection.wants_read() {
                    let before = connection.bytes_read;
                    engine.on_readable(connection);
                    has_read = connection.bytes_read != before;
                }
            });
            if has_read || self.connections == 0 || max_poll.is_zero() {
                break;
            }
            self.read_at = sys::now();
            if self.read_at - start >= max_poll {
                break;
            }
        }
        self.batch.end();
        self.send_dirty();
        let words = self.batch.words;
        (has_read || words > 0).then_some(Polled {
            words,
            received: 1,
            more: !self.stalled.is_empty(),
        })
    }

    fn update_clock(&mut self) {
        self.read_clock();
        self.read_at = self.now;
    }

    /// Begins a batch with the waiting events, without polling the kernel. Returns its words.
    pub fn begin_unreported_batch(&mut self) -> usize {
        if self.batch.locked || !self.batch.has_waiting() {
            return 0;
        }
        self.batch.begin();
        self.batch.end();
        self.resume_accepting();
        self.batch.words
    }

    /// Locks the batch while the owner reads it.
    pub fn lock_batch(&mut self) {
        self.batch.locked = true;
    }

    /// Locks a batch for a reader on another thread.
    pub fn offer_batch(&mut self, words: usize) {
        self.lock_batch();
        self.offered_words = words;
    }

    /// Takes the offered batch, once: 0 if there is none.
    pub fn take_offer(&mut self) -> usize {
        std::mem::take(&mut self.offered_words)
    }

    /// Returns true if records are still undelivered: queued, or in an offered batch.
    #[must_use]
    pub fn has_undelivered(&self) -> bool {
        self.offered_words > 0 || self.has_unreported()
    }

    /// Unlocks the batch after the owner has read it and its commands have been flushed: decisions it left open are taken.
    pub fn unlock_batch(&mut self) {
        self.batch.locked = false;
        self.batch.words = 0;
        self.run_deferred();
        if !self.stalled.is_empty() || !self.unwatched.is_empty() {
            self.wakeup.notify();
        }
    }

    /// Processes everything that had to wait for the owner.
    fn run_deferred(&mut self) {
        for id in std::mem::take(&mut self.upgrading) {
            self.with(id.slot, id.generation, |engine, connection| {
                connection.wait = Wait::Nothing;
                engine.continue_reading(connection);
            });
        }
        if self.ended.is_empty() {
            return;
        }
        // An error that was not reported yet is reported before the connection ends.
        let unreported = self.batch.waiting_slots();
        for id in std::mem::take(&mut self.ended) {
            if unreported.contains(&id.slot) {
                self.ended.push(id);
            } else {
                self.with(id.slot, id.generation, Self::handle_client_end);
            }
        }
    }

    fn on_event(&mut self, slot: u32, generation: u32, events: i32) {
        // Bit 31 of the generation is the listener's mark.
        self.with(slot, generation, |engine, connection| {
            if events & (libc::EPOLLERR | libc::EPOLLHUP) != 0 && !connection.wants_read() {
                // Nothing reads it, so the error would otherwise go unnoticed.
                let errno = sys::socket_error(&connection.fd);
                engine.release(connection, errno);
                return;
            }
            if events & libc::EPOLLOUT != 0 && !engine.send(connection) {
                return;
            }
            if events & (libc::EPOLLIN | libc::EPOLLERR | libc::EPOLLHUP) != 0 {
                engine.last_read = (slot, generation);
                engine.on_readable(connection);
            }
        });
    }
}
