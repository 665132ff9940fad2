//! The engine: its connections, its turn, its timers.

use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::batch::{Batch, Whom};
use crate::connection::{Connection, Interest};
use crate::date::Date;
use crate::head::Facts;
use crate::listener::Reserve;
use crate::outstanding::Outstanding;
use crate::ready::Ready;
use crate::seen::Seen;
use crate::server::{Server, ServerSettings};
use crate::sys::{self, Alarm, Bell, Epoll, Errno};
use crate::timers::Timers;

/// Memory the engine shares with its owner. Lengths are in elements.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Where the records of a batch go.
    pub records: (*mut u32, usize),
    /// Where new bytes go.
    pub input: (*mut u8, usize),
    /// Where the owner writes its commands.
    pub commands: (*mut u32, usize),
    /// Where it writes their bytes.
    pub output: (*const u8, usize),
    /// Unsent bytes of every slot.
    pub pending: (*mut u32, usize),
}

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

/// Bytes taken from a connection at once.
const READ: usize = 64 * 1024;
/// Buffers kept for connections that need one for a moment, and how large one may be.
const SPARE: usize = 64;
const SPARE_SIZE: usize = 64 * 1024;

/// After so many reads of a lone connection the kernel is asked what else there is.
const LONE_POLLS: u32 = 16;

pub(crate) const LISTENER: u64 = 1 << 63;
const BELL: u64 = u64::MAX;
const ALARM: u64 = u64::MAX - 1;

pub(crate) struct Slot {
    pub generation: u32,
    pub connection: Option<Box<Connection>>,
}

/// An HTTP/1.1 server, or several, in one epoll.
pub struct Engine {
    pub(crate) epoll: Epoll,
    bell: Bell,
    ready: Ready,
    pub(crate) memory: Memory,
    pub(crate) outstanding: Outstanding,
    pub(crate) batch: Batch,
    pub(crate) slots: Vec<Slot>,
    pub(crate) free: Vec<u32>,
    pub(crate) servers: Vec<Option<Server>>,
    pub(crate) timers: Timers,
    pub(crate) urls: Seen<()>,
    pub(crate) blocks: Seen<Facts>,
    pub(crate) scratch: Vec<u8>,
    spare: Vec<Vec<u8>>,
    /// Connections with bytes that did not fit in the batch.
    stalled: Vec<Whom>,
    /// Connections whose client has ended while answers were due.
    pub(crate) ended: Vec<Whom>,
    /// Connections whose end came in the turn of their last bytes.
    pub(crate) early_ends: Vec<Whom>,
    /// Turns of the owner's loop.
    pub(crate) turn: u32,
    /// Connections with a request that may take them over.
    pub(crate) upgrading: Vec<Whom>,
    /// Connections with bytes to send.
    pub(crate) dirty: Vec<u32>,
    /// Connections whose last bytes wait in the kernel for more.
    pub(crate) corked: Vec<Whom>,
    pub(crate) reserve: Reserve,
    pub(crate) now_ms: u64,
    pub(crate) date: Date,
    /// Words of a locked batch that its reader has not taken up.
    untaken: usize,
    pub(crate) connections: u32,
    /// Slot and generation of the connection that was read last.
    last_read: (u32, u32),
    /// How often it was read without asking the kernel.
    lone_polls: u32,
}

// SAFETY: the pointers in it are to memory that lives as long as the engine and that nobody else writes to at the same
// time: the owner's side is told when it may (see `lock_batch`).
unsafe impl Send for Engine {}

impl Engine {
    /// Makes an engine without a server.
    ///
    /// # Errors
    /// When the process has no descriptors left.
    ///
    /// # Safety
    /// `memory` is valid for as long as the engine and what [`Engine::outstanding`] gave live, and holds more than five words
    /// of commands.
    pub unsafe fn new(memory: Memory) -> Result<Self, Errno> {
        let epoll = Epoll::new()?;
        let bell = Bell::new()?;
        let alarm = Alarm::new()?;
        epoll.add(bell.fd(), libc::EPOLLIN, BELL)?;
        epoll.add(alarm.fd(), libc::EPOLLIN, ALARM)?;
        // SAFETY: forwarded.
        let batch = unsafe {
            Batch::new(
                memory.records.0,
                memory.records.1,
                memory.input.0,
                memory.input.1,
            )
        };
        Ok(Self {
            epoll,
            bell,
            ready: Ready::new(),
            outstanding: Outstanding::new(memory.commands.0),
            memory,
            batch,
            slots: Vec::new(),
            free: Vec::new(),
            servers: Vec::new(),
            timers: Timers::new(alarm),
            urls: Seen::new(256),
            blocks: Seen::new(2048),
            scratch: vec![0; READ],
            spare: Vec::new(),
            stalled: Vec::new(),
            ended: Vec::new(),
            early_ends: Vec::new(),
            turn: 0,
            upgrading: Vec::new(),
            dirty: Vec::new(),
            corked: Vec::new(),
            reserve: Reserve::new(),
            now_ms: sys::now_ms(),
            date: Date::default(),
            untaken: 0,
            connections: 0,
            last_read: (u32::MAX, 0),
            lone_polls: 0,
        })
    }

    /// The descriptor to wait for: readable when [`Engine::poll`] has something to do.
    #[must_use]
    pub fn descriptor(&self) -> RawFd {
        self.epoll.as_raw_fd()
    }

    /// Blocks until an engine's descriptor is readable, on a thread of its own.
    pub fn wait(descriptor: RawFd) {
        sys::wait_readable(descriptor);
    }

    /// What the owner has written and nobody has taken, to be looked at without the engine.
    #[must_use]
    pub fn outstanding(&self) -> Outstanding {
        self.outstanding
    }

    /// How many connections there are.
    #[must_use]
    pub fn connection_count(&self) -> u32 {
        self.connections
    }

    /// Makes the descriptor readable once.
    pub fn ring(&self) {
        self.bell.ring();
    }

    /// Does what there is to do without waiting, and begins a batch with it. While the batch is locked only what needs
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

    /// As [`Engine::poll`], with one of `shares` parts of what is ready when that is little. When the answers of a part leave
    /// before the next is looked at, the clients have their next requests ready by the time the last part is done.
    pub fn poll_share(&mut self, shares: usize) -> Polled {
        self.now_ms = sys::now_ms();
        if !self.batch.locked {
            self.settle();
            self.batch.begin();
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
        // Answers of the engine's own.
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
        self.now_ms = sys::now_ms();
        self.batch.begin();
        let start = (!patience.is_zero()).then(Instant::now);
        let mut has_read = false;
        loop {
            self.with(slot, generation, |engine, connection| {
                if connection.wants_read() {
                    let before = connection.bytes_read;
                    engine.on_readable(connection);
                    has_read = connection.bytes_read != before;
                }
            });
            let is_over = has_read || self.connections == 0;
            if is_over || start.is_none_or(|start| start.elapsed() >= patience) {
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

    /// A batch with what could not be told when it happened, without a look at the kernel.
    pub fn begin_late_batch(&mut self) -> usize {
        if self.batch.locked || !self.batch.has_waiting() {
            return 0;
        }
        self.batch.begin();
        self.batch.end();
        self.batch.words
    }

    /// From now on the owner reads the batch.
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

    /// The owner has read the batch and its commands have been flushed: decisions it left open are taken.
    pub fn unlock_batch(&mut self) {
        self.batch.locked = false;
        self.batch.words = 0;
        self.settle();
        if !self.stalled.is_empty() {
            self.bell.ring();
        }
    }

    /// What had to wait until the owner has had its say.
    fn settle(&mut self) {
        for whom in std::mem::take(&mut self.upgrading) {
            self.with(whom.slot, whom.generation, |engine, connection| {
                connection.upgrading = false;
                engine.read_on(connection);
            });
        }
        if self.ended.is_empty() {
            return;
        }
        // Whoever has not heard yet what was wrong has its say before the connection ends.
        let untold = self.batch.untold();
        for whom in std::mem::take(&mut self.ended) {
            if untold.contains(&whom.slot) {
                self.ended.push(whom);
            } else {
                self.with(whom.slot, whom.generation, Self::settle_end);
            }
        }
    }

    /// Runs `act` on a connection, if it is still the one that is meant.
    pub(crate) fn with<T: Default>(
        &mut self,
        slot: u32,
        generation: u32,
        act: impl FnOnce(&mut Self, &mut Box<Connection>) -> T,
    ) -> T {
        let Some(entry) = self.slots.get_mut(slot as usize) else {
            return T::default();
        };
        if entry.generation != generation {
            return T::default();
        }
        // Taken out while it is worked on, so that the engine is free; `release` leaves it closed.
        let Some(mut connection) = entry.connection.take() else {
            return T::default();
        };
        let result = act(self, &mut connection);
        let entry = &mut self.slots[slot as usize];
        if entry.generation == generation {
            entry.connection = Some(connection);
        }
        result
    }

    pub(crate) fn settings(&self, server: u32) -> &ServerSettings {
        const NONE: &ServerSettings = &ServerSettings {
            headers_timeout: 0,
            request_timeout: 0,
            keep_alive_timeout: 0,
            keep_alive_shown: 0,
            socket_timeout: 0,
            max_header_size: 16 * 1024,
            max_headers: 1000,
            max_connections: 0,
            keep_alive_initial_delay: 0,
            flags: crate::server::SettingFlags {
                no_delay: true,
                keep_alive: false,
                allow_half_open: false,
                announce: false,
            },
        };
        self.servers[server as usize]
            .as_ref()
            .map_or(NONE, |server| &server.settings)
    }

    /// Says in shared memory how much is unsent.
    pub(crate) fn set_pending(&self, slot: u32, bytes: usize) {
        assert!((slot as usize) < self.memory.pending.1);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        // SAFETY: inside the memory, which is aligned for words. JavaScript may read it at any time.
        let word = unsafe { AtomicU32::from_ptr(self.memory.pending.0.add(slot as usize)) };
        word.store(bytes, Ordering::Relaxed);
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

    /// Asks the kernel for what the connection waits for.
    pub(crate) fn show_interest(&self, connection: &mut Connection, interest: Interest) {
        if connection.interest == interest {
            return;
        }
        connection.interest = interest;
        let mut events = 0;
        if interest.read {
            events |= libc::EPOLLIN;
        }
        if interest.write {
            events |= libc::EPOLLOUT;
        }
        let whom = connection.whom;
        let token = u64::from(whom.slot) | u64::from(whom.generation) << 32;
        self.epoll.change(&connection.fd, events, token);
    }

    /// The connection has bytes that could be understood now, or soon.
    pub(crate) fn stall(&mut self, connection: &Connection) {
        self.stalled.push(connection.whom);
    }

    /// Memory for a connection that has something to keep for a moment.
    pub(crate) fn lend(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    pub(crate) fn give_back(&mut self, mut memory: Vec<u8>) {
        if self.spare.len() < SPARE && memory.capacity() <= SPARE_SIZE {
            memory.clear();
            self.spare.push(memory);
        }
    }
}
