//! Incoming connections.

use std::os::fd::OwnedFd;

use crate::address;
use crate::batch::{ConnectionId, Event};
use crate::connection::{Connection, Input};
use crate::engine::{Engine, LISTENER, Slot};
use crate::server::ServerSettings;
use crate::sys::{self, Errno};

/// Max connections accepted from a listener at once.
const MAX_ACCEPTS: usize = 64;

impl Engine {
    pub(crate) fn watch_listener(&self, server: u32, fd: &OwnedFd) -> Result<(), Errno> {
        self.epoll
            .add(fd, libc::EPOLLIN, LISTENER | u64::from(server))
    }

    pub(crate) fn accept(&mut self, server: u32) {
        for _ in 0..MAX_ACCEPTS {
            if self.batch.is_overdue() {
                self.pause_accepting(server);
                return;
            }
            let Some(Some(entry)) = self.servers.get(server as usize) else {
                return;
            };
            let Some(listener) = entry.source.listener() else {
                return;
            };
            let fd = match sys::accept(&listener.fd) {
                Ok(Some(fd)) => fd,
                Ok(None) => return,
                Err(libc::EMFILE | libc::ENFILE) => {
                    self.reserve_fd.refuse_one(&listener.fd);
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

    /// Stops watching a listener, so that the kernel keeps its connections: the owner has not read for long, and each connection
    /// that is opened, dropped or closed leaves an event for it.
    fn pause_accepting(&mut self, server: u32) {
        if let Some(Some(entry)) = self.servers.get(server as usize)
            && let Some(listener) = entry.source.listener()
        {
            self.epoll.remove(&listener.fd);
            self.unwatched.push(server);
        }
    }

    /// Accepts connections again, once the owner has read the waiting events.
    pub(crate) fn resume_accepting(&mut self) {
        if self.unwatched.is_empty() || self.batch.is_overdue() {
            return;
        }
        for server in std::mem::take(&mut self.unwatched) {
            if let Some(Some(entry)) = self.servers.get(server as usize)
                && let Some(listener) = entry.source.listener()
            {
                // The number may belong to another server by now, which is watched already.
                let _ = self.watch_listener(server, &listener.fd);
            }
        }
    }

    pub(crate) fn slots_are_full(&self) -> bool {
        self.free.is_empty() && self.slots.len() >= self.memory.pending.1
    }

    pub(crate) fn drop_connection(&mut self, server: u32, fd: &OwnedFd) {
        let text = |address: Result<address::Address, Errno>| match address {
            Ok(address::Address::Ip(ip)) => format!("{} {}", ip.ip(), ip.port()),
            _ => String::new(),
        };
        let id = ConnectionId {
            slot: u32::MAX,
            generation: 0,
            server,
        };
        let text = format!(
            "{}\0{}",
            text(address::remote(fd)),
            text(address::local(fd))
        );
        self.batch.report(id, Event::Drop { text });
    }

    pub(crate) fn open(&mut self, server: u32, fd: OwnedFd, settings: &ServerSettings) {
        let entry = self.servers.get(server as usize).and_then(Option::as_ref);
        let proxies = entry.and_then(|entry| entry.proxies.as_ref());
        let is_proxied = proxies.is_some();
        if proxies.is_some_and(|proxies| !proxies.trusts(&fd)) {
            self.drop_connection(server, &fd);
            return;
        }
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
        let id = ConnectionId {
            slot,
            generation,
            server,
        };
        let token = u64::from(slot) | u64::from(generation) << 32;
        if self.epoll.add(&fd, libc::EPOLLIN, token).is_err() {
            self.free.push(slot);
            return;
        }
        let mut connection = Box::new(Connection::new(fd, id, self.now_ms, settings));
        if is_proxied {
            connection.input = Input::ProxyHeader;
        }
        self.connections += 1;
        self.update_holding(&mut connection);
        if let Some(Some(server)) = self.servers.get_mut(server as usize) {
            server.connections += 1;
        }
        self.set_pending(slot, 0);
        self.arm(&mut connection);
        // A proxied connection is reported after its PROXY header, which names the client.
        if settings.flags.announce && !is_proxied {
            connection.mark_reported();
            self.batch.report(id, Event::Open);
        }
        self.slots[slot as usize].connection = Some(connection);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::net::{SocketAddr, TcpStream};

    use crate::address::Address;
    use crate::engine::{Engine, Memory};
    use crate::listener::{Bind, ListenOptions};
    use crate::server::ServerSettings;

    #[test]
    fn what_waits_for_a_busy_owner_is_bounded_and_goes_on_when_it_reads() {
        let mut words = vec![0_u32; 4096];
        let mut bytes = vec![0_u8; 4096];
        let memory = Memory {
            records: (words.as_mut_ptr(), 2048),
            input: (bytes.as_mut_ptr(), 4096),
            commands: (words.as_mut_ptr().wrapping_add(2048), 256),
            output: (bytes.as_ptr(), 0),
            pending: (words.as_mut_ptr().wrapping_add(2560), 512),
        };
        // SAFETY: the vectors are dropped after the engine.
        let mut engine = unsafe { Engine::new(memory) }.expect("an engine");
        // Each connection is dropped at once, with an event.
        let settings = ServerSettings {
            max_connections: -1,
            ..ServerSettings::default()
        };
        let any = Bind::Ip(SocketAddr::from(([127, 0, 0, 1], 0)));
        let server = engine
            .listen(&any, ListenOptions::default(), settings)
            .expect("listens");
        let Some(Address::Ip(address)) = engine.server_address(server) else {
            panic!("no address");
        };
        engine.lock_batch();
        let mut accepted = 0;
        while engine.unwatched.is_empty() {
            let client = TcpStream::connect(address).expect("connects");
            engine.poll();
            drop(client);
            accepted += 1;
            assert!(accepted < 5000, "it accepts without end");
        }
        let mut late = TcpStream::connect(address).expect("the kernel keeps it");
        for _ in 0..10 {
            engine.poll();
        }
        assert!(engine.batch.is_overdue());
        late.set_nonblocking(true).expect("set");
        assert!(
            late.read(&mut [0]).is_err(),
            "it is neither served nor closed"
        );
        late.set_nonblocking(false).expect("set");

        engine.unlock_batch();
        while engine.batch.has_waiting() || !engine.unwatched.is_empty() {
            engine.poll();
        }
        engine.poll();
        assert_eq!(late.read(&mut [0]).expect("its end"), 0);
    }
}
