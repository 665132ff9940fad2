//! Incoming connections.

use std::os::fd::OwnedFd;

use crate::address;
use crate::batch::{Note, Whom};
use crate::connection::{Connection, Input};
use crate::engine::{Engine, LISTENER, Slot};
use crate::server::ServerSettings;
use crate::sys::{self, Errno};

/// Connections taken from a listener at once.
const ACCEPTS: usize = 64;

impl Engine {
    pub(crate) fn watch_listener(&self, server: u32, fd: &OwnedFd) -> Result<(), Errno> {
        self.epoll
            .add(fd, libc::EPOLLIN, LISTENER | u64::from(server))
    }

    pub(crate) fn accept(&mut self, server: u32) {
        for _ in 0..ACCEPTS {
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

    pub(crate) fn slots_are_full(&self) -> bool {
        self.free.is_empty() && self.slots.len() >= self.memory.pending.1
    }

    pub(crate) fn drop_connection(&mut self, server: u32, fd: &OwnedFd) {
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
        let entry = self.servers.get(server as usize).and_then(Option::as_ref);
        let proxies = entry.and_then(|entry| entry.proxies.as_ref());
        let is_proxied = proxies.is_some();
        if proxies.is_some_and(|proxies| !proxies.trust(&fd)) {
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
        if is_proxied {
            connection.input = Input::OfProxy;
        }
        self.connections += 1;
        self.count_hold(&mut connection);
        if let Some(Some(server)) = self.servers.get_mut(server as usize) {
            server.connections += 1;
        }
        self.set_pending(slot, 0);
        self.arm(&mut connection);
        // A proxied connection is reported after its PROXY header, which names the client.
        if settings.flags.announce && !is_proxied {
            connection.tell();
            self.batch.note(whom, Note::Open);
        }
        self.slots[slot as usize].connection = Some(connection);
    }
}
