//! The proxies a server trusts.

use std::net::IpAddr;
use std::os::fd::OwnedFd;

use crate::address::{self, Address};

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
