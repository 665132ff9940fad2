//! A turn: what is ready is looked at, and becomes a batch that the owner reads.

use std::time::Duration;

use super::{ALARM, BELL, Engine, LISTENER};
use crate::connection::Wait;
use crate::sys;

/// What a turn brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Polled {
    /// Words of records that wait to be read.
    pub words: usize,
    /// How many descriptors had something to read.
    pub received: usize,
    /// There is more to do at once.
    pub more: bool,
}

/// After so many reads of a lone connection the kernel is asked what else there is.
const LONE_POLLS: u32 = 16;

impl Engine {
    /// Does what can be done without waiting, and begins a batch with it. While the batch is locked only what needs
    /// no record is done.
    pub fn poll(&mut self) -> Polled {
        self.begin_turn();
        let polled = self.poll_share(1);
        if !self.early_ends.is_empty() {
            self.bell.ring();
        }
        polled
    }

    /// The owner's loop has gone round. Clients that ended in the turn of their last bytes have ended now: what the owner does
    /// at the end of a turn is still sent to them. libuv reads no further in such a turn.
    pub fn begin_turn(&mut self) {
        // What the owner has not read yet belongs to its turn.
        if self.batch.locked {
            return;
        }
        self.turn = self.turn.wrapping_add(1);
        for whom in std::mem::take(&mut self.early_ends) {
            self.with(whom.slot, whom.generation, |engine, connection| {
                // Paused since then: it is read again when it goes on.
                if connection.wants_read() {
                    engine.on_end(connection);
                }
            });
        }
    }

    /// Whether a client's end waits for the owner's next turn.
    #[must_use]
    pub fn has_early_ends(&self) -> bool {
        !self.early_ends.is_empty()
    }

    /// As [`Engine::poll`], with one of `shares` parts of what is ready when that is little. When the responses of a part leave
    /// before the next is looked at, the clients have their next requests ready by the time the last part is done.
    pub fn poll_share(&mut self, shares: usize) -> Polled {
        self.look_at_clock();
        if !self.batch.locked {
            self.settle();
            self.batch.begin();
            self.accept_again();
        }
        let stalled = if self.batch.locked {
            Vec::new()
        } else {
            std::mem::take(&mut self.stalled)
        };
        for whom in stalled {
            self.with(whom.slot, whom.generation, |engine, connection| {
                engine.read_on(connection);
            });
        }
        self.ready.begin_share(&self.epoll, shares);
        let mut received = 0;
        let mut was_silenced = false;
        while self.batch.locked || !self.batch.is_overdue() {
            let Some((events, token)) = self.ready.next() else {
                break;
            };
            received += usize::from(events & libc::EPOLLIN != 0);
            match token {
                BELL => {
                    self.bell.silence();
                    was_silenced = true;
                }
                ALARM => self.run_timers(),
                token if token & LISTENER != 0 => self.accept((token & !LISTENER) as u32),
                token => self.on_event(token as u32, (token >> 32) as u32, events),
            }
        }
        self.batch.end();
        // What rang in this turn, before the bell's own event, is not silenced with it.
        let is_due = !self.stalled.is_empty() || !self.ended.is_empty();
        if was_silenced && is_due && !self.batch.locked {
            self.bell.ring();
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

    /// As [`Engine::poll`], when there is one connection and nothing else to do: it is read without asking the kernel who is
    /// ready, again and again until `patience` is over. `None` when nothing came; then the kernel has to be asked.
    pub fn poll_lone(&mut self, patience: Duration) -> Option<Polled> {
        let is_lone = self.connections == 1
            && !self.batch.locked
            && !self.batch.has_waiting()
            && !self.ready.has_more()
            && self.stalled.is_empty()
            && self.ended.is_empty()
            && self.upgrading.is_empty();
        // Listeners and timers have their turn, however busy the connection is.
        if !is_lone || self.lone_polls >= LONE_POLLS {
            self.lone_polls = 0;
            return None;
        }
        let (slot, generation) = self.last_read;
        self.lone_polls += 1;
        self.look_at_clock();
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
            if has_read || self.connections == 0 || patience.is_zero() {
                break;
            }
            self.read_at = sys::now();
            if self.read_at - start >= patience {
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

    fn look_at_clock(&mut self) {
        self.read_at = sys::now();
        self.now_ms = self.read_at.as_millis() as u64;
    }

    /// A batch with what could not be reported when it happened, without a look at the kernel.
    pub fn begin_late_batch(&mut self) -> usize {
        if self.batch.locked || !self.batch.has_waiting() {
            return 0;
        }
        self.batch.begin();
        self.batch.end();
        self.accept_again();
        self.batch.words
    }

    /// From now on, the owner reads the batch.
    pub fn lock_batch(&mut self) {
        self.batch.locked = true;
    }

    /// Locks a batch for a reader on another thread.
    pub fn offer_batch(&mut self, words: usize) {
        self.lock_batch();
        self.untaken = words;
    }

    /// The batch that was offered, once: 0 when there is none.
    pub fn take_offer(&mut self) -> usize {
        std::mem::take(&mut self.untaken)
    }

    /// Whether the owner is still to hear of something: it waits for a batch, or lies in one that was offered and not taken.
    #[must_use]
    pub fn has_news(&self) -> bool {
        self.untaken > 0 || self.has_late_news()
    }

    /// The owner has read the batch and its commands have been flushed: decisions it left open are taken.
    pub fn unlock_batch(&mut self) {
        self.batch.locked = false;
        self.batch.words = 0;
        self.settle();
        if !self.stalled.is_empty() || !self.unwatched.is_empty() {
            self.bell.ring();
        }
    }

    /// What had to wait for the owner.
    fn settle(&mut self) {
        for whom in std::mem::take(&mut self.upgrading) {
            self.with(whom.slot, whom.generation, |engine, connection| {
                connection.wait = Wait::Nothing;
                engine.read_on(connection);
            });
        }
        if self.ended.is_empty() {
            return;
        }
        // An error that was not reported yet is reported before the connection ends.
        let untold = self.batch.untold();
        for whom in std::mem::take(&mut self.ended) {
            if untold.contains(&whom.slot) {
                self.ended.push(whom);
            } else {
                self.with(whom.slot, whom.generation, Self::settle_end);
            }
        }
    }

    fn on_event(&mut self, slot: u32, generation: u32, events: i32) {
        // Bit 31 of the generation is the listener's mark.
        self.with(slot, generation, |engine, connection| {
            if events & (libc::EPOLLERR | libc::EPOLLHUP) != 0 && !connection.wants_read() {
                // Nobody reads, so nobody else would find out.
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
