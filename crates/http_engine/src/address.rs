//! Socket addresses as text.

use std::ffi::OsStr;
use std::mem;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use crate::sys::{Errno, check};

/// The address of a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// IPv4 or IPv6.
    Ip(SocketAddr),
    /// A Unix socket; empty if unnamed, with a leading NUL if abstract.
    Unix(PathBuf),
}

type Get = unsafe extern "C" fn(i32, *mut libc::sockaddr, *mut libc::socklen_t) -> i32;

/// Returns the address of a socket's near end.
pub(crate) fn local(fd: &OwnedFd) -> Result<Address, Errno> {
    get(fd, libc::getsockname)
}

/// Returns the address of a socket's far end.
pub(crate) fn remote(fd: &OwnedFd) -> Result<Address, Errno> {
    get(fd, libc::getpeername)
}

fn get(fd: &OwnedFd, call: Get) -> Result<Address, Errno> {
    // SAFETY: an all-zero address is valid.
    let mut storage: libc::sockaddr_storage = unsafe { mem::zeroed() };
    let mut length = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
    // SAFETY: `length` is the room in `storage`, and the call writes no more.
    check(unsafe { call(fd.as_raw_fd(), (&raw mut storage).cast(), &mut length) })?;
    let pointer = &raw const storage;
    Ok(match i32::from(storage.ss_family) {
        libc::AF_INET => {
            // SAFETY: the family says that it is an IPv4 address; the storage is larger and aligned for all.
            let address: libc::sockaddr_in = unsafe { pointer.cast::<libc::sockaddr_in>().read() };
            let ip = Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr));
            Address::Ip(SocketAddr::new(ip.into(), u16::from_be(address.sin_port)))
        }
        libc::AF_INET6 => {
            // SAFETY: as above, for IPv6.
            let address: libc::sockaddr_in6 =
                unsafe { pointer.cast::<libc::sockaddr_in6>().read() };
            Address::Ip(SocketAddr::V6(SocketAddrV6::new(
                Ipv6Addr::from(address.sin6_addr.s6_addr),
                u16::from_be(address.sin6_port),
                0,
                address.sin6_scope_id,
            )))
        }
        _ => {
            let offset = mem::offset_of!(libc::sockaddr_un, sun_path);
            // SAFETY: the kernel wrote `length` bytes of the storage.
            let bytes: &[u8] = unsafe {
                std::slice::from_raw_parts(
                    pointer.cast::<u8>().add(offset),
                    (length as usize).saturating_sub(offset),
                )
            };
            let end = match bytes.first() {
                Some(0) | None => bytes.len(),
                _ => bytes
                    .iter()
                    .position(|byte| *byte == 0)
                    .unwrap_or(bytes.len()),
            };
            Address::Unix(OsStr::from_bytes(&bytes[..end]).into())
        }
    })
}

impl Address {
    /// Returns the IP without port, as Node writes it.
    #[must_use]
    pub fn ip(&self) -> Option<IpAddr> {
        match self {
            Self::Ip(address) => Some(address.ip()),
            Self::Unix(_) => None,
        }
    }
}
