//! The headers in which proxies say whose connections they pass on.

use crate::address::{self, Address};
use crate::batch::Note;
use crate::connection::{Connection, Input};
use crate::engine::Engine;
use crate::proxies::Proxies;
use crate::proxy_header::{self, ProxyHeader};
use crate::read::Pause;

impl Engine {
    /// From now on the server takes connections from these proxies alone.
    pub fn trust_proxies(&mut self, server: u32, proxies: Proxies) {
        if let Some(Some(entry)) = self.servers.get_mut(server as usize) {
            entry.proxies = Some(proxies);
        }
    }

    /// What the proxy of a connection has said; `None` without one.
    pub fn proxy_header(&mut self, slot: u32, generation: u32) -> Option<ProxyHeader> {
        self.with(slot, generation, |_, connection| {
            connection.proxy.as_deref().cloned()
        })
    }

    /// The far end of a connection's socket: the proxy, where there is one.
    pub fn peer(&mut self, slot: u32, generation: u32) -> Option<Address> {
        self.with(slot, generation, |_, connection| {
            address::remote(&connection.fd).ok()
        })
    }

    /// Reads the header that a connection begins with. The connection is reported behind it.
    pub(crate) fn read_proxy_header(
        &mut self,
        connection: &mut Box<Connection>,
        bytes: &[u8],
        at: &mut usize,
    ) -> Result<(), Pause> {
        match proxy_header::read(&bytes[*at..]) {
            Ok(None) => Err(Pause::Bytes),
            Ok(Some((header, length))) => {
                *at += length;
                connection.proxy = Some(Box::new(header));
                connection.input = Input::Understood;
                if self.settings(connection.whom.server).flags.announce {
                    connection.tell();
                    self.batch.note(connection.whom, Note::Open);
                }
                Ok(())
            }
            Err(problem) => self.refuse_request(connection, problem, bytes),
        }
    }
}
