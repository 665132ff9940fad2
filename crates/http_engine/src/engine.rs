//! The engine: its connections, its turn, its timers.

use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::address;
use crate::batch::{Batch, Note, Whom};
use crate::connection::{Connection, Deadline, Interest};
use crate::date::Date;
use crate::head::Facts;
use crate::listener::Reserve;
use crate::problem::What;
use crate::seen::Seen;
use crate::server::{Server, ServerSettings};
use crate::sys::{self, Alarm, Bell, Epoll, Errno};
use crate::timers::{Entry, Timers};

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
    /// There is more to do at once.
    pub more: bool,
}

/// Events taken from the kernel at once.
const EVENTS: usize = 256;
/// Bytes taken from a connection at once.
pub(crate) const READ: usize = 64 * 1024;
/// Connections taken from a listener at once.
const ACCEPTS: usize = 64;
/// Buffers kept for connections that need one for a moment, and how large one may be.
const SPARE: usize = 64;
const SPARE_SIZE: usize = 64 * 1024;

const LISTENER: u64 = 1 << 63;
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
    pub(crate) memory: Memory,
    pub(crate) batch: Batch,
    pub(crate) slots: Vec<Slot>,
    free: Vec<u32>,
    pub(crate) servers: Vec<Option<Server>>,
    timers: Timers,
    pub(crate) urls: Seen<()>,
    pub(crate) blocks: Seen<Facts>,
    pub(crate) scratch: Vec<u8>,
    spare: Vec<Vec<u8>>,
    /// Connections with bytes that did not fit in the batch.
    stalled: Vec<Whom>,
    /// Connections whose client has ended while answers were due.
    pub(crate) ended: Vec<Whom>,
    /// Connections with a request that may take them over.
    pub(crate) upgrading: Vec<Whom>,
    /// Connections with bytes to send.
    pub(crate) dirty: Vec<u32>,
    reserve: Reserve,
    pub(crate) now_ms: u64,
    pub(crate) date: Date,
    /// Words of a locked batch that its reader has not taken up.
    untaken: usize,
    pub(crate) connections: u32,
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
    /// `memory` is valid for as long as the engine lives.
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
            upgrading: Vec::new(),
            dirty: Vec::new(),
            reserve: Reserve::new(),
            now_ms: sys::now_ms(),
            date: Date::default(),
            untaken: 0,
            connections: 0,
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
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; EVENTS];
        let count = self.epoll.wait(&mut events);
        for event in &events[..count] {
            let (events, token) = (event.events as i32, event.u64);
            match token {
                BELL => self.bell.silence(),
                ALARM => self.run_timers(),
                token if token & LISTENER != 0 => self.accept((token & !LISTENER) as u32),
                token => self.on_event(token as u32, (token >> 32) as u32, events),
            }
        }
        self.batch.end();
        // Answers of the engine's own.
        self.send_dirty();
        Polled {
            words: if self.batch.locked {
                0
            } else {
                self.batch.words
            },
            more: count == EVENTS || self.batch.has_waiting() || !self.stalled.is_empty(),
        }
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
        for whom in std::mem::take(&mut self.ended) {
            self.with(whom.slot, whom.generation, Self::settle_end);
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

    pub(crate) fn watch_listener(&self, server: u32, fd: &OwnedFd) -> Result<(), Errno> {
        self.epoll
            .add(fd, libc::EPOLLIN, LISTENER | u64::from(server))
    }

    fn accept(&mut self, server: u32) {
        for _ in 0..ACCEPTS {
            let Some(Some(entry)) = self.servers.get(server as usize) else {
                return;
            };
            let Some(listener) = &entry.listener else {
                return;
            };
            let fd = match sys::accept(&listener.fd) {
                Ok(Some(fd)) => fd,
                Ok(None) => return,
                Err(libc::EMFILE | libc::ENFILE) => {
                    self.reserve.refuse_one(&listener.fd);
                    return;
                }
                Err(_) => return,
            };
            let settings = entry.settings;
            let limit = settings.max_connections;
            let is_full = limit < 0 || (limit > 0 && entry.connections >= limit.unsigned_abs());
            if is_full || self.slots_are_full() {
                self.drop_connection(server, &fd);
            } else {
                self.open(server, fd, &settings);
            }
        }
    }

    fn slots_are_full(&self) -> bool {
        self.free.is_empty() && self.slots.len() >= self.memory.pending.1
    }

    fn drop_connection(&mut self, server: u32, fd: &OwnedFd) {
        let text = |address: Result<address::Address, Errno>| match address {
            Ok(address::Address::Ip(ip)) => format!("{} {}", ip.ip(), ip.port()),
            _ => String::new(),
        };
        let whom = Whom {
            slot: u32::MAX,
            generation: 0,
            server,
        };
        let text = format!(
            "{}\0{}",
            text(address::remote(fd)),
            text(address::local(fd))
        );
        self.batch.note(whom, Note::Drop { text });
    }

    pub(crate) fn open(&mut self, server: u32, fd: OwnedFd, settings: &ServerSettings) {
        let _ = settings
            .flags
            .no_delay
            .then(|| sys::set_option(&fd, libc::IPPROTO_TCP, libc::TCP_NODELAY, 1));
        if settings.flags.keep_alive {
            let _ = sys::set_option(&fd, libc::SOL_SOCKET, libc::SO_KEEPALIVE, 1);
            let seconds = (settings.keep_alive_initial_delay / 1000) as i32;
            if seconds > 0 {
                let _ = sys::set_option(&fd, libc::IPPROTO_TCP, libc::TCP_KEEPIDLE, seconds);
            }
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot {
                generation: 1,
                connection: None,
            });
            self.slots.len() as u32 - 1
        });
        let generation = self.slots[slot as usize].generation;
        let whom = Whom {
            slot,
            generation,
            server,
        };
        let token = u64::from(slot) | u64::from(generation) << 32;
        if self.epoll.add(&fd, libc::EPOLLIN, token).is_err() {
            self.free.push(slot);
            return;
        }
        let mut connection = Box::new(Connection::new(fd, whom, self.now_ms, settings));
        self.connections += 1;
        if let Some(Some(server)) = self.servers.get_mut(server as usize) {
            server.connections += 1;
        }
        self.set_pending(slot, 0);
        self.arm(&mut connection);
        if settings.flags.announce {
            connection.told = true;
            self.batch.note(whom, Note::Open);
        }
        self.slots[slot as usize].connection = Some(connection);
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

    /// Makes sure that a timer entry is there for the connection's next deadline.
    pub(crate) fn arm(&mut self, connection: &mut Connection) {
        let settings = self.settings(connection.whom.server);
        let Some((at_ms, _)) = connection.deadline(settings) else {
            return;
        };
        if connection.armed == 0 || at_ms < connection.armed {
            connection.armed = at_ms;
            self.timers.add(Entry {
                at_ms,
                slot: connection.whom.slot,
                generation: connection.whom.generation,
            });
        }
    }

    fn run_timers(&mut self) {
        while let Some(entry) = self.timers.due(self.now_ms) {
            self.with(entry.slot, entry.generation, |engine, connection| {
                // Another entry has taken its place.
                if connection.armed == entry.at_ms {
                    connection.armed = 0;
                    engine.on_timer(connection);
                }
            });
        }
        self.timers.set_again();
    }

    fn on_timer(&mut self, connection: &mut Box<Connection>) {
        let settings = *self.settings(connection.whom.server);
        match connection.deadline(&settings) {
            Some((at_ms, kind)) if at_ms <= self.now_ms => match kind {
                Deadline::Request => self.fail(connection, What::Timeout, 0, &[]),
                Deadline::KeepAlive | Deadline::Inactive => {
                    connection.told = true;
                    connection.last_active = self.now_ms;
                    if connection.idle_since != 0 {
                        connection.idle_since = self.now_ms;
                    }
                    let inactive = kind == Deadline::Inactive;
                    self.batch.note(connection.whom, Note::Timeout { inactive });
                    self.arm(connection);
                }
            },
            _ => self.arm(connection),
        }
    }

    /// Tells what is wrong, and reads no more.
    pub(crate) fn fail(
        &mut self,
        connection: &mut Box<Connection>,
        what: What,
        at: usize,
        packet: &[u8],
    ) {
        connection.failed = true;
        connection.told = true;
        connection.body = None;
        connection.head_since = 0;
        connection.unread = Vec::new();
        self.batch.note(
            connection.whom,
            Note::Error {
                code: what as u32,
                at: at as u32,
                packet: packet.to_vec(),
            },
        );
    }

    /// The client has ended its side and the answers written so far are on their way.
    fn settle_end(&mut self, connection: &mut Box<Connection>) {
        let half_open = self.settings(connection.whom.server).flags.allow_half_open;
        if half_open && connection.answers.in_flight() > 0 {
            self.batch.note(connection.whom, Note::End);
            return;
        }
        connection.closing = true;
        self.close_if_sent(connection);
    }

    /// Closes a connection that was to be closed once everything is sent, if it is.
    pub(crate) fn close_if_sent(&mut self, connection: &mut Box<Connection>) {
        if connection.closing && connection.answers.unsent() == 0 {
            sys::finish(&connection.fd, &mut self.scratch);
            self.release(connection, 0);
        }
    }

    /// The end of a connection: its slot is free, its descriptor is closed when the caller lets it go.
    pub(crate) fn release(&mut self, connection: &mut Box<Connection>, errno: Errno) {
        let whom = connection.whom;
        let entry = &mut self.slots[whom.slot as usize];
        if entry.generation != whom.generation {
            return;
        }
        // 31 bits: the highest one marks listeners in epoll's token.
        entry.generation = (entry.generation + 1) & 0x7fff_ffff;
        self.free.push(whom.slot);
        self.epoll.remove(&connection.fd);
        self.connections -= 1;
        self.set_pending(whom.slot, 0);
        if connection.told {
            self.batch.note(
                whom,
                Note::Close {
                    errno: errno.unsigned_abs(),
                },
            );
        }
        if let Some(memory) = connection.answers.take_memory() {
            self.give_back(memory);
        }
        if let Some(Some(server)) = self.servers.get_mut(whom.server as usize) {
            server.connections -= 1;
            self.tell_if_stopped(whom.server);
        }
    }

    pub(crate) fn tell_if_stopped(&mut self, server: u32) {
        let Some(Some(entry)) = self.servers.get(server as usize) else {
            return;
        };
        if entry.listener.is_none() && entry.connections == 0 {
            self.servers[server as usize] = None;
            let whom = Whom {
                slot: u32::MAX,
                generation: 0,
                server,
            };
            self.batch.note(whom, Note::Stopped);
        }
    }
}
