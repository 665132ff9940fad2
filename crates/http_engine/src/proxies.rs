//! The proxies a server trusts, and the headers in which they say whose connections they pass on.

use std::net::IpAddr;
use std::os::fd::OwnedFd;

use crate::address::{self, Address};
use crate::batch::Note;
use crate::connection::{Connection, Input};
use crate::engine::Engine;
use crate::proxy_header::{self, ProxyHeader};
use crate::read::Pause;

/// A range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u8,
}

/// Whose headers are believed. Each connection of theirs begins with one, and nobody else gets a connection.
#[derive(Clone, Debug, Default)]
pub struct Proxies {
    /// Where they connect from.
    pub networks: Vec<Network>,
    /// So may whoever may open the Unix socket.
    pub trusts_unix: bool,
}

impl Network {
    /// The addresses that begin with the same `bits`; `None` when an address does not have as many.
    #[must_use]
    pub fn new(address: IpAddr, bits: u8) -> Option<Self> {
        let most = if address.is_ipv4() { 32 } else { 128 };
        (bits <= most).then_some(Self { address, bits })
    }

    fn has(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.bits)).unwrap_or(0);
                (own.to_bits() ^ other.to_bits()) & mask == 0
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let mask = u128::MAX
                    .checked_shl(128 - u32::from(self.bits))
                    .unwrap_or(0);
                (own.to_bits() ^ other.to_bits()) & mask == 0
            }
            _ => false,
        }
    }
}

impl Proxies {
    pub(crate) fn trust(&self, fd: &OwnedFd) -> bool {
        match address::remote(fd) {
            // An IPv6 socket has clients of IPv4 as mapped addresses.
            Ok(Address::Ip(peer)) => {
                let ip = peer.ip().to_canonical();
                self.networks.iter().any(|network| network.has(ip))
            }
            Ok(Address::Unix(_)) => self.trusts_unix,
            Err(_) => false,
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::Network;

    fn has(network: &str, bits: u8, address: &str) -> bool {
        let parse = |text: &str| text.parse().expect("an address");
        let network = Network::new(parse(network), bits).expect("a network");
        network.has(parse(address))
    }

    #[test]
    fn a_network_has_the_addresses_that_begin_as_it_does() {
        assert!(has("10.1.2.3", 8, "10.255.0.1"));
        assert!(!has("10.0.0.0", 8, "11.0.0.0"));
        assert!(has("10.0.0.1", 32, "10.0.0.1"));
        assert!(!has("10.0.0.1", 32, "10.0.0.2"));
        assert!(has("0.0.0.0", 0, "203.0.113.7"));
        assert!(!has("0.0.0.0", 0, "::1"));
        assert!(has("fd00::", 8, "fd12::1"));
        assert!(!has("fd00::", 8, "fe00::1"));
        assert!(has("::", 0, "fe00::1"));
        assert!(has("::1", 128, "::1"));
        assert!(!has("::1", 128, "::2"));
        assert!(Network::new("10.0.0.0".parse().expect("an address"), 33).is_none());
        assert!(Network::new("::".parse().expect("an address"), 129).is_none());
    }
}
