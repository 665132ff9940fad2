//! Headers in which proxies name the endpoints of the connections they forward.

use crate::address::{self, Address};
use crate::batch::Event;
use crate::connection::{Connection, Input};
use crate::engine::Engine;
use crate::proxies::Proxies;
use crate::proxy_header::{self, ProxyHeader};
use crate::read::Pause;

impl Engine {
    /// Restricts the server to connections from these proxies.
    pub fn trust_proxies(&mut self, server: u32, proxies: Proxies) {
        if let Some(Some(entry)) = self.servers.get_mut(server as usize) {
            entry.proxies = Some(proxies);
        }
    }

    /// Returns the proxy header of a connection; `None` without one.
    pub fn proxy_header(&mut self, slot: u32, generation: u32) -> Option<ProxyHeader> {
        self.with(slot, generation, |_, connection| {
            connection.proxy.as_deref().cloned()
        })
    }

    /// Returns the far end of a connection's socket: the proxy, if there is one.
    pub fn peer(&mut self, slot: u32, generation: u32) -> Option<Address> {
        self.with(slot, generation, |_, connection| {
            address::remote(&connection.fd).ok()
        })
    }

    /// Reads the header that a connection begins with. The connection is reported after it.
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
                connection.input = Input::Requests;
                if self.settings(connection.id.server).flags.announce {
                    connection.mark_reported();
                    self.batch.report(connection.id, Event::Open);
                }
                Ok(())
            }
            Err(problem) => self.refuse_request(connection, problem, bytes),
        }
    }
}
