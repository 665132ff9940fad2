//! The engine: its servers and connections, and how one of them is worked on.

mod turn;

use std::collections::HashMap;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::batch::{Batch, Whom};
use crate::connection::{Connection, Interest};
use crate::date::Date;
use crate::head::Facts;
use crate::line_log::LineLog;
use crate::listener::Reserve;
use crate::outstanding::Outstanding;
use crate::ready::Ready;
use crate::seen::Seen;
use crate::server::{Server, ServerSettings};
use crate::sys::{self, Alarm, Bell, Epoll, Errno};
use crate::timers::Timers;

pub use turn::Polled;

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

/// Bytes taken from a connection at once.
const READ: usize = 64 * 1024;
/// Buffers kept for connections that need one for a moment, and how large one may be.
const SPARE: usize = 64;
const SPARE_SIZE: usize = 64 * 1024;

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
    /// Lines of the servers' own answers, by the server's number: they outlive it.
    pub(crate) logs: Vec<LineLog>,
    /// How many of those have lines.
    pub(crate) logs_with_lines: u32,
    pub(crate) timers: Timers,
    pub(crate) urls: Seen<()>,
    pub(crate) blocks: Seen<Facts>,
    pub(crate) scratch: Vec<u8>,
    spare: Vec<Vec<u8>>,
    /// Connections with bytes that did not fit in the batch.
    stalled: Vec<Whom>,
    /// Servers that accept nothing until the owner has read.
    pub(crate) unwatched: Vec<u32>,
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
    /// How far parts of files had come whose connections are gone, until their owner asks: by slot and generation.
    pub(crate) lost_files: HashMap<(u32, u32), u64>,
    pub(crate) reserve: Reserve,
    pub(crate) now_ms: u64,
    /// When the requests that are being read were found, by the same clock.
    pub(crate) read_at: Duration,
    pub(crate) date: Date,
    /// Words of a locked batch that its reader has not taken up.
    untaken: usize,
    pub(crate) connections: u32,
    /// Those of them that keep the owner's loop alive.
    pub(crate) holding: u32,
    /// Slot and generation of the connection that was read last.
    last_read: (u32, u32),
    /// How often it was read without asking the kernel.
    lone_polls: u32,
}

// SAFETY: the pointers in it are to memory that lives as long as the engine and that nobody else writes to at the same
// time: the owner's side is notified when it may (see `lock_batch`).
unsafe impl Send for Engine {}

impl Engine {
    /// Makes an engine without a server.
    ///
    /// # Errors
    /// When the process has no descriptors left.
    ///
    /// # Safety
    /// `memory` is valid for as long as the engine and what [`Engine::outstanding`] gave live, and holds more than six words
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
            logs: Vec::new(),
            logs_with_lines: 0,
            timers: Timers::new(alarm),
            urls: Seen::new(256),
            blocks: Seen::new(2048),
            scratch: vec![0; READ],
            spare: Vec::new(),
            stalled: Vec::new(),
            unwatched: Vec::new(),
            ended: Vec::new(),
            early_ends: Vec::new(),
            turn: 0,
            upgrading: Vec::new(),
            dirty: Vec::new(),
            corked: Vec::new(),
            lost_files: HashMap::new(),
            reserve: Reserve::new(),
            now_ms: sys::now_ms(),
            read_at: Duration::ZERO,
            date: Date::default(),
            untaken: 0,
            connections: 0,
            holding: 0,
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
        if self.slots[slot as usize].generation == generation {
            self.count_hold(&mut connection);
            self.slots[slot as usize].connection = Some(connection);
        }
        result
    }

    /// Every change of a connection ends here or in `release`, so `holding` is right between calls.
    pub(crate) fn count_hold(&mut self, connection: &mut Connection) {
        let holds = connection.holds_loop();
        if holds != connection.holds {
            connection.holds = holds;
            self.holding = if holds {
                self.holding + 1
            } else {
                self.holding - 1
            };
        }
    }

    /// True while the owner's loop has to go on: for a connection, for what the owner has not heard, or for what the next turn does.
    #[must_use]
    pub fn holds_loop(&self) -> bool {
        self.holding > 0 || self.has_news() || !self.stalled.is_empty() || !self.ended.is_empty()
    }

    /// It was not released meanwhile.
    pub(crate) fn is_current(&self, connection: &Connection) -> bool {
        self.slots[connection.whom.slot as usize].generation == connection.whom.generation
    }

    pub(crate) fn settings(&self, server: u32) -> &ServerSettings {
        self.servers[server as usize]
            .as_ref()
            .map_or(&ServerSettings::WITHOUT_TIMEOUTS, |server| &server.settings)
    }

    /// Writes to shared memory how much is unsent.
    pub(crate) fn set_pending(&self, slot: u32, bytes: usize) {
        assert!((slot as usize) < self.memory.pending.1);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        // SAFETY: inside the memory, which is aligned for words. JavaScript may read it at any time.
        let word = unsafe { AtomicU32::from_ptr(self.memory.pending.0.add(slot as usize)) };
        word.store(bytes, Ordering::Relaxed);
    }

    pub(crate) fn watch_reads(&self, connection: &mut Connection, wanted: bool) {
        let interest = Interest::of(wanted, connection.interest.writes());
        self.show_interest(connection, interest);
    }

    pub(crate) fn watch_writes(&self, connection: &mut Connection, wanted: bool) {
        let interest = Interest::of(connection.interest.reads(), wanted);
        self.show_interest(connection, interest);
    }

    /// Asks the kernel for what the connection waits for.
    fn show_interest(&self, connection: &mut Connection, interest: Interest) {
        if connection.interest == interest {
            return;
        }
        connection.interest = interest;
        let events = match interest {
            Interest::Nothing => 0,
            Interest::Reads => libc::EPOLLIN,
            Interest::Writes => libc::EPOLLOUT,
            Interest::Both => libc::EPOLLIN | libc::EPOLLOUT,
        };
        let whom = connection.whom;
        let token = u64::from(whom.slot) | u64::from(whom.generation) << 32;
        self.epoll.change(&connection.fd, events, token);
    }

    /// The connection has bytes that could be parsed now, or soon.
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
