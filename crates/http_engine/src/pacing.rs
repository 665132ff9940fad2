//! Disables pacing for connections from the same machine.
//!
//! BBR spreads packets over time with kernel timers, in case the path is slow. Between two sockets of one machine no path is
//! slow: there a mebibyte in 16 chunks spent a third of its CPU on these timers, which are most expensive in virtual machines. A
//! proxy on the same host is such a client. A connection inherits its congestion control from the listening socket, and one that
//! is bound to a loopback address has no other clients, so the choice is made once, if the administrator's default is BBR.

use std::ffi::CStr;
use std::os::fd::OwnedFd;

use crate::address::{self, Address};
use crate::sys;

/// Every process may select Reno; the other needs a permission if the administrator does not allow it.
const WITHOUT_PACING: [&CStr; 2] = [c"cubic", c"reno"];

pub(crate) fn disable_on_loopback(listener: &OwnedFd) {
    let is_loopback = matches!(address::local(listener), Ok(Address::Ip(ip)) if ip.ip().to_canonical().is_loopback());
    if is_loopback && sys::congestion_control(listener).starts_with(b"bbr") {
        let _ = WITHOUT_PACING
            .iter()
            .any(|name| sys::set_congestion_control(listener, name).is_ok());
    }
}

#[cfg(test)]
mod tests {
    use std::net::{SocketAddr, TcpStream};
    use std::os::fd::OwnedFd;

    use super::*;
    use crate::listener::{Bind, ListenOptions, Listener};

    /// Returns the congestion control of a connection from the loopback to a listener of this address.
    fn accepted_at(address: SocketAddr) -> [u8; 16] {
        let listener =
            Listener::open(&Bind::Ip(address), ListenOptions::default()).expect("listens");
        let Ok(Address::Ip(mut bound)) = address::local(&listener.fd) else {
            panic!("no address");
        };
        if bound.ip().is_unspecified() {
            bound.set_ip([127, 0, 0, 1].into());
        }
        let _client = TcpStream::connect(bound).expect("connects");
        let accepted = loop {
            if let Some(fd) = sys::accept(&listener.fd).expect("accepts") {
                break fd;
            }
        };
        sys::congestion_control(&accepted)
    }

    fn systems_default() -> [u8; 16] {
        let plain = std::net::TcpListener::bind("127.0.0.1:0").expect("listens");
        sys::congestion_control(&OwnedFd::from(plain))
    }

    #[test]
    fn only_a_listener_that_remote_clients_cannot_reach_leaves_bbr() {
        let default = systems_default();
        let local = accepted_at(([127, 0, 0, 1], 0).into());
        assert!(!local.starts_with(b"bbr"));
        if !default.starts_with(b"bbr") {
            assert_eq!(local, default);
        }
        assert_eq!(accepted_at(([0, 0, 0, 0], 0).into()), default);
    }

    #[test]
    fn a_unix_socket_has_none() {
        let (one, _other) = std::os::unix::net::UnixStream::pair().expect("a pair");
        assert_eq!(sys::congestion_control(&one.into()), [0; 16]);
    }
}
