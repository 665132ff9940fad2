//! Listening sockets.

use std::mem;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::pacing;
use crate::sys::{self, Errno, check, opened, set_option};

/// The socket to listen on.
#[derive(Clone, Debug)]
pub enum Bind {
    /// An IP address; port 0 lets the kernel choose.
    Ip(SocketAddr),
    /// A Unix socket. It is removed when the server stops.
    Unix(PathBuf),
    /// A bound socket. It remains the caller's; the engine uses a copy of its own.
    Fd(i32),
}

/// Options of a listening socket.
#[derive(Clone, Copy, Debug)]
pub struct ListenOptions {
    /// Max connections waiting to be accepted.
    pub backlog: i32,
    /// Refuses IPv4 connections on an IPv6 socket.
    pub ipv6_only: bool,
    /// Several sockets may have this address; the kernel spreads connections over them.
    pub reuse_port: bool,
    /// Every user may read from the Unix socket.
    pub readable_all: bool,
    /// Every user may write to the Unix socket.
    pub writable_all: bool,
}

impl Default for ListenOptions {
    fn default() -> Self {
        Self {
            backlog: 511,
            ipv6_only: false,
            reuse_port: false,
            readable_all: false,
            writable_all: false,
        }
    }
}

/// A listening socket. Its path is removed with it.
pub(crate) struct Listener {
    pub fd: OwnedFd,
    path: Option<PathBuf>,
}

impl Listener {
    pub fn open(bind: &Bind, options: ListenOptions) -> Result<Self, Errno> {
        let listener = match bind {
            Bind::Ip(address) => Self::open_ip(*address, options)?,
            Bind::Unix(path) => Self::open_unix(path.clone())?,
            Bind::Fd(fd) => {
                let copy = sys::duplicate(*fd)?;
                // SAFETY: no memory is passed.
                let flags = check(unsafe { libc::fcntl(copy.as_raw_fd(), libc::F_GETFL) })?;
                let flags = flags | libc::O_NONBLOCK;
                // SAFETY: as above.
                check(unsafe { libc::fcntl(copy.as_raw_fd(), libc::F_SETFL, flags) })?;
                Self {
                    fd: copy,
                    path: None,
                }
            }
        };
        pacing::disable_on_loopback(&listener.fd);
        // SAFETY: no memory is passed.
        check(unsafe { libc::listen(listener.fd.as_raw_fd(), options.backlog) })?;
        if let Some(path) = &listener.path
            && (options.readable_all || options.writable_all)
        {
            let mode = 0o700
                | if options.readable_all { 0o044 } else { 0 }
                | if options.writable_all { 0o022 } else { 0 };
            let permissions = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(path, permissions)
                .map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))?;
        }
        Ok(listener)
    }

    fn open_ip(address: SocketAddr, options: ListenOptions) -> Result<Self, Errno> {
        let family = match address {
            SocketAddr::V4(_) => libc::AF_INET,
            SocketAddr::V6(_) => libc::AF_INET6,
        };
        let fd = socket(family)?;
        set_option(&fd, libc::SOL_SOCKET, libc::SO_REUSEADDR, 1)?;
        if options.reuse_port {
            set_option(&fd, libc::SOL_SOCKET, libc::SO_REUSEPORT, 1)?;
        }
        match address {
            SocketAddr::V4(v4) => {
                // SAFETY: an all-zero address is valid.
                let mut raw: libc::sockaddr_in = unsafe { mem::zeroed() };
                raw.sin_family = libc::AF_INET as _;
                raw.sin_port = v4.port().to_be();
                raw.sin_addr.s_addr = u32::from(*v4.ip()).to_be();
                bind(&fd, &raw, size_of::<libc::sockaddr_in>())?;
            }
            SocketAddr::V6(v6) => {
                let only = i32::from(options.ipv6_only);
                set_option(&fd, libc::IPPROTO_IPV6, libc::IPV6_V6ONLY, only)?;
                // SAFETY: as above.
                let mut raw: libc::sockaddr_in6 = unsafe { mem::zeroed() };
                raw.sin6_family = libc::AF_INET6 as _;
                raw.sin6_port = v6.port().to_be();
                raw.sin6_addr.s6_addr = v6.ip().octets();
                raw.sin6_scope_id = v6.scope_id();
                bind(&fd, &raw, size_of::<libc::sockaddr_in6>())?;
            }
        }
        Ok(Self { fd, path: None })
    }

    fn open_unix(path: PathBuf) -> Result<Self, Errno> {
        let bytes = path.as_os_str().as_bytes();
        // SAFETY: an all-zero address is valid.
        let mut raw: libc::sockaddr_un = unsafe { mem::zeroed() };
        raw.sun_family = libc::AF_UNIX as _;
        let is_abstract = bytes.first() == Some(&0);
        // A path needs its NUL; an abstract name does not.
        if bytes.is_empty() || bytes.len() + usize::from(!is_abstract) > raw.sun_path.len() {
            return Err(libc::EINVAL);
        }
        for (to, from) in raw.sun_path.iter_mut().zip(bytes) {
            *to = *from as libc::c_char;
        }
        let length =
            mem::offset_of!(libc::sockaddr_un, sun_path) + bytes.len() + usize::from(!is_abstract);
        let fd = socket(libc::AF_UNIX)?;
        bind(&fd, &raw, length)?;
        Ok(Self {
            fd,
            path: (!is_abstract).then_some(path),
        })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            let _ = std::fs::remove_file(path);
        }
    }
}

fn socket(family: i32) -> Result<OwnedFd, Errno> {
    let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: no memory is passed, and the call creates the descriptor.
    unsafe { opened(libc::socket(family, kind, 0)) }
}

fn bind<T>(fd: &OwnedFd, address: &T, length: usize) -> Result<(), Errno> {
    let address: *const T = address;
    // SAFETY: `address` lives through the call and has at least `length` bytes.
    check(unsafe { libc::bind(fd.as_raw_fd(), address.cast(), length as libc::socklen_t) })
        .map(drop)
        // A missing directory is EACCES, as in libuv.
        .map_err(|error| {
            if error == libc::ENOENT {
                libc::EACCES
            } else {
                error
            }
        })
}

/// Accepts a connection when no descriptor is left, and closes it, or it would wait in the accept queue forever and the listener
/// would stay readable.
pub(crate) struct ReserveFd(Option<OwnedFd>);

impl ReserveFd {
    pub fn new() -> Self {
        let flags = libc::O_RDONLY | libc::O_CLOEXEC;
        // SAFETY: the path is a C string, and the call creates the descriptor.
        Self(unsafe { opened(libc::open(c"/dev/null".as_ptr(), flags)) }.ok())
    }

    pub fn refuse_one(&mut self, listener: &OwnedFd) {
        self.0 = None;
        let _ = sys::accept(listener);
        *self = Self::new();
    }
}
