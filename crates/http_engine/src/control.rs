//! What the owner asks of servers and connections.

use std::mem;
use std::os::fd::OwnedFd;

use crate::address::{self, Address};
use crate::connection::{ClientEnd, Connection, Input, Owner, Stage};
use crate::engine::Engine;
use crate::listener::{Bind, ListenOptions, Listener};
use crate::own_answers::OwnAnswers;
use crate::server::{Server, ServerSettings, Source, keep_alive_lines};
use crate::store::{Fill, StoreHandle};
use crate::sys::{self, Errno};
use crate::wire::outcome;

/// A connection that no longer belongs to the engine.
#[derive(Debug)]
pub struct Detached {
    /// Its socket: not blocking, close-on-exec.
    pub fd: OwnedFd,
    /// What was read and not parsed.
    pub unread: Vec<u8>,
}

impl Engine {
    /// Listens, and returns the server's number.
    ///
    /// # Errors
    /// The kernel's.
    pub fn listen(
        &mut self,
        bind: &Bind,
        options: ListenOptions,
        settings: ServerSettings,
    ) -> Result<u32, Errno> {
        let listener = Listener::open(bind, options)?;
        self.watch_listener(self.servers.len() as u32, &listener.fd)?;
        Ok(self.add_server(Source::Listener(listener), settings))
    }

    /// Makes a server whose connections its owner hands over, and returns its number.
    pub fn serve(&mut self, settings: ServerSettings) -> u32 {
        self.add_server(Source::Owner, settings)
    }

    /// A number is never used again: the owner may still hold the old server, and its last event may still be on the way.
    fn add_server(&mut self, source: Source, settings: ServerSettings) -> u32 {
        self.servers.push(Some(Server {
            source,
            settings,
            connections: 0,
            answers: None,
            keep_alive_lines: keep_alive_lines(&settings),
            proxies: None,
            noted: None,
        }));
        self.servers.len() as u32 - 1
    }

    /// Changes the settings of a server. Deadlines that are running follow.
    pub fn configure(&mut self, server: u32, settings: ServerSettings) {
        let Some(Some(entry)) = self.servers.get_mut(server as usize) else {
            return;
        };
        entry.configure(settings);
        self.each_of(server, Self::arm_boxed);
    }

    fn arm_boxed(&mut self, connection: &mut Box<Connection>) {
        self.arm(connection);
    }

    /// Where a server listens; `None` when it does not.
    #[must_use]
    pub fn server_address(&self, server: u32) -> Option<Address> {
        let server = self.servers.get(server as usize)?.as_ref()?;
        address::local(&server.source.listener()?.fd).ok()
    }

    /// From now on a server can answer by itself. With `is_shared` those of the process that listen at the same address do it
    /// out of one store.
    pub fn open_answers(&mut self, server: u32, max_bytes: usize, is_shared: bool) {
        let Some(Some(entry)) = self.servers.get_mut(server as usize) else {
            return;
        };
        if entry.answers.is_some() || matches!(entry.source, Source::Stopped) {
            return;
        }
        let listener = entry.source.listener().filter(|_| is_shared);
        let address = listener.and_then(|listener| address::local(&listener.fd).ok());
        let store = match address {
            Some(address) => StoreHandle::shared(format!("{address:?}"), max_bytes),
            None => StoreHandle::own(max_bytes),
        };
        entry.answers = Some(OwnAnswers::new(store));
    }

    /// A server leaves everything to its owner again.
    pub fn close_answers(&mut self, server: u32) {
        if let Some(Some(entry)) = self.servers.get_mut(server as usize) {
            entry.answers = None;
        }
    }

    /// Keeps an answer, or returns why not: one of [`outcome`].
    pub fn keep(&mut self, server: u32, fill: Fill) -> u32 {
        match self.own_answers(server) {
            Some(own) => own.store.keep(fill, sys::now_ms()),
            None => outcome::NOT_SERVED,
        }
    }

    /// Counts an answer that the owner did not hand over.
    pub fn count_outcome(&mut self, server: u32, outcome: u32) {
        if let Some(own) = self.own_answers(server)
            && (outcome as usize) < outcome::COUNT
        {
            own.store.counts.add_outcome(outcome);
        }
    }

    /// Drops every answer to a target, those being made included.
    pub fn drop_target(&mut self, server: u32, target: &[u8]) {
        if let Some(own) = self.own_answers(server) {
            own.store.drop_target(target);
        }
    }

    /// Drops every answer that has one of the tags, those being made included.
    pub fn drop_tags<'a>(&mut self, server: u32, tags: impl Iterator<Item = &'a str>) {
        if let Some(own) = self.own_answers(server) {
            own.store.drop_tags(tags);
        }
    }

    /// Drops every answer, those being made included.
    pub fn clear_answers(&mut self, server: u32) {
        if let Some(own) = self.own_answers(server) {
            own.store.clear();
        }
    }

    /// The counts of a server's answers, in the order of [`crate::wire::answer_count`]; empty without a store.
    pub fn answer_counts(&mut self, server: u32) -> Vec<u64> {
        let own = self.own_answers(server);
        own.map_or(Vec::new(), |own| own.store.all_counts())
    }

    /// Sets the request header, in lower case, whose value is reported with every answer the engine gives.
    pub fn note_header(&mut self, server: u32, name: &[u8]) {
        if let Some(Some(entry)) = self.servers.get_mut(server as usize) {
            entry.noted = (!name.is_empty()).then(|| name.into());
            if let Some(own) = &mut entry.answers {
                own.forget_blocks();
            }
        }
    }

    fn own_answers(&mut self, server: u32) -> Option<&mut OwnAnswers> {
        self.servers
            .get_mut(server as usize)?
            .as_mut()?
            .answers
            .as_mut()
    }

    /// How many connections a server has.
    #[must_use]
    pub fn connections_of(&self, server: u32) -> u32 {
        let server = self.servers.get(server as usize).and_then(Option::as_ref);
        server.map_or(0, |server| server.connections)
    }

    /// Takes no new connections. Reports when the last one is gone.
    pub fn stop(&mut self, server: u32) {
        let Some(Some(entry)) = self.servers.get_mut(server as usize) else {
            return;
        };
        // The owner answers what its connections still request, and ends them with that.
        entry.answers = None;
        if let Source::Listener(listener) = mem::replace(&mut entry.source, Source::Stopped) {
            self.epoll.remove(&listener.fd);
        }
        self.tell_if_stopped(server);
    }

    /// Closes a server's connections that are between two requests.
    pub fn close_idle(&mut self, server: u32, with_unused: bool) {
        self.each_of(server, |engine, connection| {
            if connection.is_idle() || with_unused && connection.is_unused() {
                connection.stage = Stage::Closing;
                engine.close_if_sent(connection);
            }
        });
    }

    /// Closes all connections of a server. What was written is offered to the kernel first.
    pub fn close_all(&mut self, server: u32) {
        self.flush();
        self.each_of(server, Self::close_now);
    }

    fn each_of(&mut self, server: u32, mut act: impl FnMut(&mut Self, &mut Box<Connection>)) {
        for slot in 0..self.slots.len() {
            let entry = &self.slots[slot];
            let generation = entry.generation;
            let is_its = entry
                .connection
                .as_ref()
                .is_some_and(|connection| connection.whom.server == server);
            if is_its {
                self.with(slot as u32, generation, &mut act);
            }
        }
    }

    /// Closes a connection at once, with RST when `reset`. What was written is offered to the kernel first: it returns how many
    /// bytes are lost.
    pub fn close(&mut self, slot: u32, generation: u32, reset: bool) -> usize {
        self.flush();
        self.with(slot, generation, |engine, connection| {
            let unsent = connection.answers.unsent();
            if reset {
                sys::reset_on_close(&connection.fd);
                engine.release(connection, 0);
            } else {
                engine.close_now(connection);
            }
            unsent
        })
    }

    /// Stops reading and stops reporting the body. Requests already read are still reported.
    pub fn pause(&mut self, slot: u32, generation: u32) {
        self.with(slot, generation, |_, connection| {
            connection.owner = Owner::Paused;
        });
    }

    /// Goes on with both.
    pub fn resume(&mut self, slot: u32, generation: u32) {
        self.with(slot, generation, |engine, connection| {
            connection.owner = Owner::Reading;
            engine.wake(connection);
        });
    }

    /// Sets if the connection keeps the owner's loop alive while it is read.
    pub fn set_referenced(&mut self, slot: u32, generation: u32, is_referenced: bool) {
        self.with(slot, generation, |_, connection| {
            connection.is_referenced = is_referenced;
        });
    }

    /// Reads the rest of the body, or of what is refused, without reporting it.
    pub fn discard_body(&mut self, slot: u32, generation: u32) {
        self.with(slot, generation, |engine, connection| {
            connection.owner = Owner::Reading;
            if connection.has_failed() {
                connection.input = Input::Dropped;
            }
            if let Some(body) = &mut connection.body {
                body.discarded = true;
            }
            engine.wake(connection);
        });
    }

    /// Reports the client's end while responses are due, as with half-open connections: the owner holds bytes that leave then.
    pub fn announce_end(&mut self, slot: u32, generation: u32) {
        self.with(slot, generation, |_, connection| {
            connection.client_end = ClientEnd::Reported;
        });
    }

    fn wake(&mut self, connection: &mut Box<Connection>) {
        if connection.has_more() {
            self.stall(connection);
            self.ring();
        }
        if connection.wants_read() {
            self.watch_reads(connection, true);
        }
    }

    /// Gives a connection away: its socket and what came behind its last request. What was written is sent first;
    /// `None` when it is gone.
    pub fn detach(&mut self, slot: u32, generation: u32) -> Option<Detached> {
        self.flush();
        let entry = self.slots.get_mut(slot as usize)?;
        if entry.generation != generation {
            return None;
        }
        let mut connection = entry.connection.take()?;
        connection.owner = Owner::Unaware;
        self.release(&mut connection, 0);
        let Connection { fd, unread, .. } = *connection;
        Some(Detached { fd, unread })
    }

    /// The connection's own inactivity timeout in milliseconds, 0 is none.
    pub fn set_timeout(&mut self, slot: u32, generation: u32, timeout_ms: u32) {
        self.with(slot, generation, |engine, connection| {
            connection.socket_timeout = timeout_ms;
            connection.last_active = sys::now_ms();
            engine.arm(connection);
        });
    }

    /// Serves a connection that somebody else accepted. The descriptor becomes the engine's.
    pub fn adopt(&mut self, server: u32, fd: OwnedFd) {
        if let Some(Some(entry)) = self.servers.get(server as usize) {
            let settings = entry.settings;
            // The engine's clock may be that of its last turn, long ago: the connection's first deadline would be over.
            self.now_ms = sys::now_ms();
            if self.slots_are_full() {
                self.drop_connection(server, &fd);
            } else {
                self.open(server, fd, &settings);
            }
        }
    }

    /// Bytes read and written so far.
    pub fn counts(&mut self, slot: u32, generation: u32) -> (u64, u64) {
        self.with(slot, generation, |_, connection| {
            (connection.bytes_read, connection.bytes_written)
        })
    }

    /// TCP_NODELAY of a connection.
    pub fn set_no_delay(&mut self, slot: u32, generation: u32, on: bool) {
        self.with(slot, generation, |_, connection| {
            let _ = sys::set_option(
                &connection.fd,
                libc::IPPROTO_TCP,
                libc::TCP_NODELAY,
                on.into(),
            );
        });
    }

    /// SO_KEEPALIVE of a connection, and the seconds before its first probe when they are not 0.
    pub fn set_keep_alive(&mut self, slot: u32, generation: u32, on: bool, seconds: u32) {
        self.with(slot, generation, |_, connection| {
            let fd = &connection.fd;
            let _ = sys::set_option(fd, libc::SOL_SOCKET, libc::SO_KEEPALIVE, on.into());
            if on && seconds > 0 {
                let seconds = i32::try_from(seconds).unwrap_or(i32::MAX);
                let _ = sys::set_option(fd, libc::IPPROTO_TCP, libc::TCP_KEEPIDLE, seconds);
            }
        });
    }

    /// Where a connection comes from.
    pub fn remote(&mut self, slot: u32, generation: u32) -> Option<Address> {
        self.with(slot, generation, |_, connection| match connection.ends() {
            Some(ends) => Some(ends.source.clone()),
            None => address::remote(&connection.fd).ok(),
        })
    }

    /// The address it came to.
    pub fn local(&mut self, slot: u32, generation: u32) -> Option<Address> {
        self.with(slot, generation, |_, connection| match connection.ends() {
            Some(ends) => Some(ends.destination.clone()),
            None => address::local(&connection.fd).ok(),
        })
    }

    /// Whether anything is to be reported that no batch has reported yet.
    #[must_use]
    pub fn has_late_news(&self) -> bool {
        self.batch.has_waiting()
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;

    use crate::engine::{Engine, Memory};
    use crate::server::ServerSettings;
    use crate::sys;

    #[test]
    fn a_connection_handed_over_after_a_long_rest_is_timed_from_then() {
        let mut words = vec![0_u32; 1024];
        let mut bytes = vec![0_u8; 1024];
        let memory = Memory {
            records: (words.as_mut_ptr(), 256),
            input: (bytes.as_mut_ptr(), 1024),
            commands: (words.as_mut_ptr().wrapping_add(256), 256),
            output: (bytes.as_ptr(), 0),
            pending: (words.as_mut_ptr().wrapping_add(512), 512),
        };
        // SAFETY: the vectors are dropped after the engine.
        let mut engine = unsafe { Engine::new(memory) }.expect("an engine");
        let server = engine.serve(ServerSettings::default());
        let now_ms = sys::now_ms();
        engine.now_ms = now_ms.saturating_sub(120_000);
        let (given, _other) = UnixStream::pair().expect("a pair");
        engine.adopt(server, OwnedFd::from(given));
        let connection = engine.slots[0].connection.as_ref().expect("the connection");
        assert!(connection.head_since >= now_ms);
        engine.stop(server);
        assert_eq!(engine.connections_of(server), 1, "it stays until it ends");
        engine.close(0, 1, false);
        assert!(engine.servers[server as usize].is_none());
    }
}
