//! The owner's calls for servers and connections.

use std::mem;
use std::os::fd::OwnedFd;

use crate::address::{self, Address};
use crate::connection::{ClientEnd, Connection, Input, OwnerState, Stage};
use crate::engine::Engine;
use crate::listener::{Bind, ListenOptions, Listener};
use crate::server::{Server, ServerSettings, Source, keep_alive_lines};
use crate::sys::{self, Errno};

/// A connection handed over by the engine.
#[derive(Debug)]
pub struct Detached {
    /// Its socket: non-blocking, close-on-exec.
    pub fd: OwnedFd,
    /// Bytes read but not parsed.
    pub unread: Vec<u8>,
}

impl Engine {
    /// Listens, and returns the server's number.
    ///
    /// # Errors
    /// The kernel's error.
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

    /// Creates a server whose connections its owner hands over, and returns its number.
    pub fn serve(&mut self, settings: ServerSettings) -> u32 {
        self.add_server(Source::Owner, settings)
    }

    /// Adds a server. A number is never reused: the owner may still hold the old server, and its last event may still be under
    /// way.
    fn add_server(&mut self, source: Source, settings: ServerSettings) -> u32 {
        self.servers.push(Some(Server {
            source,
            settings,
            connections: 0,
            store: None,
            keep_alive_lines: keep_alive_lines(&settings),
            proxies: None,
            id_header: None,
        }));
        self.servers.len() as u32 - 1
    }

    /// Changes the settings of a server, including running deadlines.
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

    /// Returns the address a server listens on; `None` if it does not listen.
    #[must_use]
    pub fn server_address(&self, server: u32) -> Option<Address> {
        let server = self.servers.get(server as usize)?.as_ref()?;
        address::local(&server.source.listener()?.fd).ok()
    }

    /// Returns the number of connections of a server.
    #[must_use]
    pub fn connections_of(&self, server: u32) -> u32 {
        let server = self.servers.get(server as usize).and_then(Option::as_ref);
        server.map_or(0, |server| server.connections)
    }

    /// Stops accepting connections. The end of the last one is reported.
    pub fn stop(&mut self, server: u32) {
        let Some(Some(entry)) = self.servers.get_mut(server as usize) else {
            return;
        };
        // The owner responds to the remaining requests, and ends the connections after them.
        entry.store = None;
        if let Source::Listener(listener) = mem::replace(&mut entry.source, Source::Stopped) {
            self.epoll.remove(&listener.fd);
        }
        self.report_if_stopped(server);
    }

    /// Closes a server's connections between two requests. A connection whose next request has arrived, unread, stays open: in a
    /// worker of a cluster the connection and its first request come together, and closing it would lose the request.
    pub fn close_idle(&mut self, server: u32, with_unused: bool) {
        self.each_of(server, |engine, connection| {
            let rests = connection.is_idle() || with_unused && connection.is_unused();
            if rests && !sys::has_unread(&connection.fd) {
                connection.stage = Stage::Closing;
                engine.close_if_sent(connection);
            }
        });
    }

    /// Closes all connections of a server. Written bytes are offered to the kernel first.
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
                .is_some_and(|connection| connection.id.server == server);
            if is_its {
                self.with(slot as u32, generation, &mut act);
            }
        }
    }

    /// Closes a connection at once, with RST if `reset`. Written bytes are offered to the kernel first; returns the number of
    /// lost bytes.
    pub fn close(&mut self, slot: u32, generation: u32, reset: bool) -> usize {
        self.flush();
        self.with(slot, generation, |engine, connection| {
            let unsent = connection.responses.unsent();
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
            connection.owner = OwnerState::Paused;
        });
    }

    /// Resumes both.
    pub fn resume(&mut self, slot: u32, generation: u32) {
        self.with(slot, generation, |engine, connection| {
            connection.owner = OwnerState::Reading;
            engine.resume_reading(connection);
        });
    }

    /// Sets whether the connection keeps the owner's loop alive while it is read.
    pub fn set_referenced(&mut self, slot: u32, generation: u32, is_referenced: bool) {
        self.with(slot, generation, |_, connection| {
            connection.is_referenced = is_referenced;
        });
    }

    /// Reads the rest of the body, or of refused input, without reporting it.
    pub fn discard_body(&mut self, slot: u32, generation: u32) {
        self.with(slot, generation, |engine, connection| {
            connection.owner = OwnerState::Reading;
            if connection.has_failed() {
                connection.input = Input::Discarded;
            }
            if let Some(body) = &mut connection.body {
                body.discarded = true;
            }
            engine.resume_reading(connection);
        });
    }

    /// Reports the client's end while responses are due, as with half-open connections: the owner holds bytes that it sends then.
    pub fn announce_end(&mut self, slot: u32, generation: u32) {
        self.with(slot, generation, |_, connection| {
            connection.client_end = ClientEnd::Reported;
        });
    }

    fn resume_reading(&mut self, connection: &mut Box<Connection>) {
        if connection.has_unparsed() {
            self.stall(connection);
            self.request_turn();
        }
        if connection.wants_read() {
            self.watch_reads(connection, true);
        }
    }

    /// Hands over a connection: its socket and the bytes after its last request. Written bytes are sent first; `None` if it is
    /// closed.
    pub fn detach(&mut self, slot: u32, generation: u32) -> Option<Detached> {
        self.flush();
        let entry = self.slots.get_mut(slot as usize)?;
        if entry.generation != generation {
            return None;
        }
        let mut connection = entry.connection.take()?;
        connection.owner = OwnerState::Unreported;
        self.observe_takeover(&mut connection);
        self.release(&mut connection, 0);
        let Connection { fd, unread, .. } = *connection;
        Some(Detached { fd, unread })
    }

    /// Sets the connection's own inactivity timeout in milliseconds, 0 for none.
    pub fn set_timeout(&mut self, slot: u32, generation: u32, timeout_ms: u32) {
        self.with(slot, generation, |engine, connection| {
            connection.socket_timeout = timeout_ms;
            connection.last_active = sys::now_ms();
            engine.arm(connection);
        });
    }

    /// Serves a connection accepted elsewhere. The descriptor becomes the engine's.
    pub fn adopt(&mut self, server: u32, fd: OwnedFd) {
        if let Some(Some(entry)) = self.servers.get(server as usize) {
            let settings = entry.settings;
            // The engine's clock may date from its last turn, long ago: the connection's first deadline would have passed.
            self.read_clock();
            if self.slots_are_full() {
                self.drop_connection(server, &fd);
            } else {
                self.open(server, fd, &settings);
            }
        }
    }

    /// Returns the bytes read and written so far.
    pub fn counts(&mut self, slot: u32, generation: u32) -> (u64, u64) {
        self.with(slot, generation, |_, connection| {
            (connection.bytes_read, connection.bytes_written)
        })
    }

    /// Sets TCP_NODELAY of a connection.
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

    /// Sets SO_KEEPALIVE of a connection, and the seconds before its first probe unless they are 0.
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

    /// Returns the address a connection comes from.
    pub fn remote(&mut self, slot: u32, generation: u32) -> Option<Address> {
        self.with(slot, generation, |_, connection| {
            match connection.endpoints() {
                Some(endpoints) => Some(endpoints.source.clone()),
                None => address::remote(&connection.fd).ok(),
            }
        })
    }

    /// Returns the address it came to.
    pub fn local(&mut self, slot: u32, generation: u32) -> Option<Address> {
        self.with(slot, generation, |_, connection| {
            match connection.endpoints() {
                Some(endpoints) => Some(endpoints.destination.clone()),
                None => address::local(&connection.fd).ok(),
            }
        })
    }

    /// Returns true if something is waiting that no batch has reported yet.
    #[must_use]
    pub fn has_unreported(&self) -> bool {
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
