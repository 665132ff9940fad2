//! The engine: its servers and connections, and access to one of them.

mod turn;

use std::collections::HashMap;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::batch::{Batch, ConnectionId};
use crate::connection::{Connection, Interest};
use crate::date::Date;
use crate::exchanges::Exchanges;
use crate::head::Facts;
use crate::line_log::LineLog;
use crate::listener::ReserveFd;
use crate::outstanding::Outstanding;
use crate::ready::ReadyEvents;
use crate::repeat_cache::RepeatCache;
use crate::server::{Server, ServerSettings};
use crate::sys::{self, Epoll, Errno};
use crate::timers::Timers;
use crate::wake::{EventFd, TimerFd};

pub use turn::Polled;

/// Memory the engine shares with its owner. Lengths are in elements.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Memory for the records of a batch.
    pub records: (*mut u32, usize),
    /// Memory for new bytes.
    pub input: (*mut u8, usize),
    /// Memory for the owner's commands.
    pub commands: (*mut u32, usize),
    /// Memory for the bytes of the commands.
    pub output: (*const u8, usize),
    /// Unsent bytes, by slot.
    pub pending: (*mut u32, usize),
}

/// Max bytes taken from a connection at once.
const READ_SIZE: usize = 64 * 1024;
/// Max buffers kept for connections that need one for a moment, and the max size of one, in bytes.
const MAX_SPARE_BUFFERS: usize = 64;
const MAX_SPARE_SIZE: usize = 64 * 1024;

pub(crate) const LISTENER: u64 = 1 << 63;
const WAKEUP: u64 = u64::MAX;
const TIMER: u64 = u64::MAX - 1;

pub(crate) struct Slot {
    pub generation: u32,
    pub connection: Option<Box<Connection>>,
}

/// One or more HTTP/1.1 servers in one epoll instance.
pub struct Engine {
    pub(crate) epoll: Epoll,
    wakeup: EventFd,
    ready: ReadyEvents,
    pub(crate) memory: Memory,
    pub(crate) outstanding: Outstanding,
    pub(crate) batch: Batch,
    pub(crate) slots: Vec<Slot>,
    pub(crate) free: Vec<u32>,
    pub(crate) servers: Vec<Option<Server>>,
    /// Log lines of the servers' own responses, by the server's number: they outlive it.
    pub(crate) logs: Vec<LineLog>,
    /// Number of logs that have lines.
    pub(crate) logs_with_lines: u32,
    pub(crate) timers: Timers,
    pub(crate) urls: RepeatCache<()>,
    pub(crate) blocks: RepeatCache<Facts>,
    pub(crate) scratch: Vec<u8>,
    spare_buffers: Vec<Vec<u8>>,
    /// Connections with bytes that did not fit in the batch.
    stalled: Vec<ConnectionId>,
    /// Servers whose listener is not watched until the owner has read.
    pub(crate) unwatched: Vec<u32>,
    /// Connections whose client has ended while responses were due.
    pub(crate) ended: Vec<ConnectionId>,
    /// Connections whose end came in the turn of their last bytes.
    pub(crate) early_ends: Vec<ConnectionId>,
    /// Turns of the owner's loop.
    pub(crate) turn: u32,
    /// Connections with a request that may take them over.
    pub(crate) upgrading: Vec<ConnectionId>,
    /// Connections with bytes to send.
    pub(crate) dirty: Vec<u32>,
    /// Connections whose last bytes wait in the kernel for more.
    pub(crate) corked: Vec<ConnectionId>,
    /// Progress of file ranges whose connections are closed, until their owner requests it: by slot and generation.
    pub(crate) lost_files: HashMap<(u32, u32), u64>,
    pub(crate) reserve_fd: ReserveFd,
    /// The time of the current call or turn.
    pub(crate) now: Duration,
    /// The same in milliseconds.
    pub(crate) now_ms: u64,
    /// The time at which the current requests were found, by the same clock.
    pub(crate) read_at: Duration,
    pub(crate) date: Date,
    /// Words of a locked batch that its reader has not taken.
    offered_words: usize,
    pub(crate) connections: u32,
    /// Number of connections that keep the owner's loop alive.
    pub(crate) holding: u32,
    /// Slot and generation of the connection that was read last.
    last_read: (u32, u32),
    /// Number of consecutive reads without polling the kernel.
    lone_polls: u32,
    /// The ring of an observer.
    pub(crate) exchanges: Option<Exchanges>,
}

// SAFETY: its pointers refer to memory that lives as long as the engine and is not written concurrently by others: the owner's
// side is notified when it may write (see `lock_batch`).
unsafe impl Send for Engine {}

impl Engine {
    /// Creates an engine without a server.
    ///
    /// # Errors
    /// When the process has no descriptors left.
    ///
    /// # Safety
    /// `memory` is valid for as long as the engine and the result of [`Engine::outstanding`] live, and holds more than six words
    /// of commands.
    pub unsafe fn new(memory: Memory) -> Result<Self, Errno> {
        let epoll = Epoll::new()?;
        let wakeup = EventFd::new()?;
        let timer = TimerFd::new()?;
        epoll.add(wakeup.fd(), libc::EPOLLIN, WAKEUP)?;
        epoll.add(timer.fd(), libc::EPOLLIN, TIMER)?;
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
            wakeup,
            ready: ReadyEvents::new(),
            outstanding: Outstanding::new(memory.commands.0),
            memory,
            batch,
            slots: Vec::new(),
            free: Vec::new(),
            servers: Vec::new(),
            logs: Vec::new(),
            logs_with_lines: 0,
            timers: Timers::new(timer),
            urls: RepeatCache::new(256),
            blocks: RepeatCache::new(2048),
            scratch: vec![0; READ_SIZE],
            spare_buffers: Vec::new(),
            stalled: Vec::new(),
            unwatched: Vec::new(),
            ended: Vec::new(),
            early_ends: Vec::new(),
            turn: 0,
            upgrading: Vec::new(),
            dirty: Vec::new(),
            corked: Vec::new(),
            lost_files: HashMap::new(),
            reserve_fd: ReserveFd::new(),
            now: Duration::ZERO,
            now_ms: sys::now_ms(),
            read_at: Duration::ZERO,
            date: Date::default(),
            offered_words: 0,
            connections: 0,
            holding: 0,
            last_read: (u32::MAX, 0),
            lone_polls: 0,
            exchanges: None,
        })
    }

    /// Returns the descriptor to wait for: readable when [`Engine::poll`] has something to do.
    #[must_use]
    pub fn descriptor(&self) -> RawFd {
        self.epoll.as_raw_fd()
    }

    /// BlockCache until an engine's descriptor is readable; for a thread of its own.
    pub fn wait(descriptor: RawFd) {
        sys::wait_readable(descriptor);
    }

    /// Returns a view of the owner's commands that have not been taken, usable without the engine.
    #[must_use]
    pub fn outstanding(&self) -> Outstanding {
        self.outstanding
    }

    /// Returns the number of connections.
    #[must_use]
    pub fn connection_count(&self) -> u32 {
        self.connections
    }

    /// Makes the descriptor readable once.
    pub fn request_turn(&self) {
        self.wakeup.notify();
    }

    /// Runs `act` on a connection, if its generation is still current.
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
        // Taken out meanwhile, so that the engine is free; `release` leaves the slot empty.
        let Some(mut connection) = entry.connection.take() else {
            return T::default();
        };
        let result = act(self, &mut connection);
        if self.slots[slot as usize].generation == generation {
            self.update_holding(&mut connection);
            self.slots[slot as usize].connection = Some(connection);
        }
        result
    }

    /// Updates `holding`. Every change of a connection ends here or in `release`, so `holding` is right between calls.
    pub(crate) fn update_holding(&mut self, connection: &mut Connection) {
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

    /// Returns true while the owner's loop must keep running: for a connection, for undelivered records, or for the work of the
    /// next turn.
    #[must_use]
    pub fn holds_loop(&self) -> bool {
        self.holding > 0
            || self.has_undelivered()
            || !self.stalled.is_empty()
            || !self.ended.is_empty()
    }

    /// Returns true if it was not released meanwhile.
    pub(crate) fn is_current(&self, connection: &Connection) -> bool {
        self.slots[connection.id.slot as usize].generation == connection.id.generation
    }

    pub(crate) fn read_clock(&mut self) {
        self.now = sys::now();
        self.now_ms = self.now.as_millis() as u64;
    }

    pub(crate) fn settings(&self, server: u32) -> &ServerSettings {
        self.servers[server as usize]
            .as_ref()
            .map_or(&ServerSettings::WITHOUT_TIMEOUTS, |server| &server.settings)
    }

    /// Writes the number of unsent bytes to shared memory.
    pub(crate) fn set_pending(&self, slot: u32, bytes: usize) {
        assert!((slot as usize) < self.memory.pending.1);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        // SAFETY: inside the memory, which is aligned for words. JavaScript may read it at any time.
        let word = unsafe { AtomicU32::from_ptr(self.memory.pending.0.add(slot as usize)) };
        word.store(bytes, Ordering::Relaxed);
    }

    pub(crate) fn watch_reads(&self, connection: &mut Connection, wanted: bool) {
        let interest = Interest::of(wanted, connection.interest.writes());
        self.set_interest(connection, interest);
    }

    pub(crate) fn watch_writes(&self, connection: &mut Connection, wanted: bool) {
        let interest = Interest::of(connection.interest.reads(), wanted);
        self.set_interest(connection, interest);
    }

    /// Registers the connection's interest with the kernel.
    fn set_interest(&self, connection: &mut Connection, interest: Interest) {
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
        let id = connection.id;
        let token = u64::from(id.slot) | u64::from(id.generation) << 32;
        self.epoll.change(&connection.fd, events, token);
    }

    /// Queues a connection with bytes that could be parsed now, or soon.
    pub(crate) fn stall(&mut self, connection: &Connection) {
        self.stalled.push(connection.id);
    }

    /// Returns a buffer for a connection that must store bytes for a moment.
    pub(crate) fn take_buffer(&mut self) -> Vec<u8> {
        self.spare_buffers.pop().unwrap_or_default()
    }

    pub(crate) fn return_buffer(&mut self, mut buffer: Vec<u8>) {
        if self.spare_buffers.len() < MAX_SPARE_BUFFERS && buffer.capacity() <= MAX_SPARE_SIZE {
            buffer.clear();
            self.spare_buffers.push(buffer);
        }
    }
}
