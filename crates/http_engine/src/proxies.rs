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

/// Proxies whose headers are trusted. Each of their connections begins with one, and all other connections are refused.
#[derive(Clone, Debug, Default)]
pub struct Proxies {
    /// Their addresses.
    pub networks: Vec<Network>,
    /// True if any process that may open the Unix socket is trusted.
    pub trusts_unix: bool,
}

impl Network {
    /// Creates the network of the addresses that begin with the same `bits`; `None` if an address has fewer.
    #[must_use]
    pub fn new(address: IpAddr, bits: u8) -> Option<Self> {
        let max_bits = if address.is_ipv4() { 32 } else { 128 };
        (bits <= max_bits).then_some(Self { address, bits })
    }

    fn contains(&self, address: IpAddr) -> bool {
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
    pub(crate) fn trusts(&self, fd: &OwnedFd) -> bool {
        match address::remote(fd) {
            // IPv4 clients of an IPv6 socket have mapped addresses.
            Ok(Address::Ip(peer)) => {
                let ip = peer.ip().to_canonical();
                self.networks.iter().any(|network| network.contains(ip))
            }
            Ok(Address::Unix(_)) => self.trusts_unix,
            Err(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Network;

    fn contains(network: &str, bits: u8, address: &str) -> bool {
        let parse = |text: &str| text.parse().expect("an address");
        let network = Network::new(parse(network), bits).expect("a network");
        network.contains(parse(address))
    }

    #[test]
    fn a_network_has_the_addresses_that_begin_as_it_does() {
        assert!(contains("10.1.2.3", 8, "10.255.0.1"));
        assert!(!contains("10.0.0.0", 8, "11.0.0.0"));
        assert!(contains("10.0.0.1", 32, "10.0.0.1"));
        assert!(!contains("10.0.0.1", 32, "10.0.0.2"));
        assert!(contains("0.0.0.0", 0, "203.0.113.7"));
        assert!(!contains("0.0.0.0", 0, "::1"));
        assert!(contains("fd00::", 8, "fd12::1"));
        assert!(!contains("fd00::", 8, "fe00::1"));
        assert!(contains("::", 0, "fe00::1"));
        assert!(contains("::1", 128, "::1"));
        assert!(!contains("::1", 128, "::2"));
        assert!(Network::new("10.0.0.0".parse().expect("an address"), 33).is_none());
        assert!(Network::new("::".parse().expect("an address"), 129).is_none());
    }
}
