//! The engine's few system calls, as functions that return `Result`.

use std::ffi::CStr;
use std::mem;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::time::Duration;

pub use kernel::Errno;
pub(crate) use kernel::{Epoll, check, errno, opened};
use libc::{c_int, c_void};

/// Returns a copy of `fd`, which remains the caller's.
pub(crate) fn duplicate(fd: RawFd) -> Result<OwnedFd, Errno> {
    // SAFETY: no memory is passed; a bad descriptor is reported as EBADF. The call creates the copy.
    unsafe { opened(libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3)) }
}

/// Returns a copy of a connection accepted elsewhere.
///
/// # Errors
/// EBADF or ENOTSOCK for a descriptor that is closed or not a socket, EINVAL for a socket that is not a stream with a peer,
/// EMFILE.
pub fn copy_connection(fd: RawFd) -> Result<OwnedFd, Errno> {
    // Checks the copy: the number may mean something else by now.
    let copy = duplicate(fd)?;
    let kind = socket_option(&copy, libc::SO_TYPE)?;
    let listens = socket_option(&copy, libc::SO_ACCEPTCONN)? != 0;
    if kind != libc::SOCK_STREAM || listens {
        return Err(libc::EINVAL);
    }
    Ok(copy)
}

/// Returns the milliseconds since a fixed moment in the past.
pub(crate) fn now_ms() -> u64 {
    now().as_millis() as u64
}

/// Returns the time since that moment.
pub(crate) fn now() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call fills `time`; this clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

pub(crate) fn has_unread(fd: &OwnedFd) -> bool {
    let mut byte = 0_u8;
    // SAFETY: the kernel writes at most one byte, into `byte`.
    let seen = unsafe {
        libc::recv(
            fd.as_raw_fd(),
            (&raw mut byte).cast(),
            1,
            libc::MSG_DONTWAIT | libc::MSG_PEEK,
        )
    };
    seen > 0
}

/// Reads the available bytes; `Ok(0)` is the end.
pub(crate) fn receive(fd: &OwnedFd, into: &mut [u8]) -> Result<usize, Errno> {
    loop {
        // SAFETY: the kernel writes at most `into.len()` bytes into a slice we hold exclusively.
        let read = unsafe {
            libc::recv(
                fd.as_raw_fd(),
                into.as_mut_ptr().cast(),
                into.len(),
                libc::MSG_DONTWAIT,
            )
        };
        match read {
            0.. => return Ok(read as usize),
            _ if errno() == libc::EINTR => {}
            _ => return Err(errno()),
        }
    }
}

/// Sends as much as the kernel takes now. `Ok(0)` if it takes nothing.
pub(crate) fn send(fd: &OwnedFd, bytes: &[u8]) -> Result<usize, Errno> {
    send_with(fd, bytes, 0)
}

fn send_with(fd: &OwnedFd, bytes: &[u8], flags: c_int) -> Result<usize, Errno> {
    loop {
        // SAFETY: the kernel reads `bytes.len()` bytes of a live slice.
        let sent = unsafe {
            libc::send(
                fd.as_raw_fd(),
                bytes.as_ptr().cast(),
                bytes.len(),
                libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL | flags,
            )
        };
        if let Some(result) = sent_bytes(sent) {
            return result;
        }
    }
}

/// Like [`send`], for bytes that others follow at once.
pub(crate) fn send_more(fd: &OwnedFd, bytes: &[u8]) -> Result<usize, Errno> {
    send_with(fd, bytes, libc::MSG_MORE)
}

/// Like [`send`], for several pieces in one call.
pub(crate) fn send_pieces(fd: &OwnedFd, pieces: &[&[u8]]) -> Result<usize, Errno> {
    let mut list: [libc::iovec; 4] = [libc::iovec {
        iov_base: std::ptr::null_mut(),
        iov_len: 0,
    }; 4];
    for (entry, piece) in list.iter_mut().zip(pieces) {
        entry.iov_base = piece.as_ptr().cast_mut().cast();
        entry.iov_len = piece.len();
    }
    // SAFETY: an all-zero header is valid.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    message.msg_iov = list.as_mut_ptr();
    message.msg_iovlen = pieces.len().min(list.len()) as _;
    loop {
        // SAFETY: `message` points at `list`, whose entries point at live slices that are only read.
        let sent = unsafe {
            libc::sendmsg(
                fd.as_raw_fd(),
                &message,
                libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL,
            )
        };
        if let Some(result) = sent_bytes(sent) {
            return result;
        }
    }
}

fn sent_bytes(sent: isize) -> Option<Result<usize, Errno>> {
    match sent {
        0.. => Some(Ok(sent as usize)),
        _ => match errno() {
            libc::EINTR => None,
            libc::EAGAIN | libc::ENOBUFS => Some(Ok(0)),
            error => Some(Err(error)),
        },
    }
}

/// Sends as much of a file as the kernel takes, from `at` or from the descriptor's position; `Ok(0)` at its end. The socket does
/// not block.
pub(crate) fn send_file(
    socket: &OwnedFd,
    file: &impl AsRawFd,
    at: Option<u64>,
    length: usize,
) -> Result<usize, Errno> {
    let mut offset = at.unwrap_or(0) as libc::off_t;
    let place = match at {
        Some(_) => &raw mut offset,
        None => std::ptr::null_mut(),
    };
    loop {
        // SAFETY: `place` is null, or points at `offset`, which lives through the call.
        let sent = unsafe { libc::sendfile(socket.as_raw_fd(), file.as_raw_fd(), place, length) };
        match sent {
            0.. => return Ok(sent as usize),
            _ if errno() == libc::EINTR => {}
            _ => return Err(errno()),
        }
    }
}

pub(crate) fn is_non_blocking(fd: &OwnedFd) -> bool {
    // SAFETY: no memory is passed.
    let flags = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFL) };
    flags >= 0 && flags & libc::O_NONBLOCK != 0
}

pub(crate) fn stat(fd: &OwnedFd) -> Result<libc::stat, Errno> {
    // SAFETY: an all-zero value is valid.
    let mut stat: libc::stat = unsafe { mem::zeroed() };
    // SAFETY: the call fills `stat`.
    check(unsafe { libc::fstat(fd.as_raw_fd(), &mut stat) })?;
    Ok(stat)
}

pub(crate) fn position(fd: &impl AsRawFd) -> Result<u64, Errno> {
    // SAFETY: no memory is passed.
    let at = unsafe { libc::lseek(fd.as_raw_fd(), 0, libc::SEEK_CUR) };
    u64::try_from(at).map_err(|_| errno())
}

/// BlockCache until `fd` is readable.
pub(crate) fn wait_readable(fd: RawFd) {
    let mut entry = libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: one entry, which lives through the call. An interruption is a spurious wake.
    unsafe { libc::poll(&mut entry, 1, -1) };
}

/// Accepts a connection; `Ok(None)` if none is waiting.
pub(crate) fn accept(listener: &OwnedFd) -> Result<Option<OwnedFd>, Errno> {
    // SAFETY: no address is requested, and the call creates the descriptor.
    let result = unsafe {
        opened(libc::accept4(
            listener.as_raw_fd(),
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC,
        ))
    };
    match result {
        Ok(fd) => Ok(Some(fd)),
        // The peer has closed already, or the network reports an error.
        Err(libc::EAGAIN | libc::ECONNABORTED | libc::EINTR | libc::EPROTO) => Ok(None),
        Err(error) => Err(error),
    }
}

pub(crate) fn set_option(
    fd: &OwnedFd,
    level: c_int,
    name: c_int,
    value: c_int,
) -> Result<(), Errno> {
    let value: *const c_int = &value;
    // SAFETY: the option is an int, which lives through the call.
    check(unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            level,
            name,
            value.cast::<c_void>(),
            size_of::<c_int>() as libc::socklen_t,
        )
    })
    .map(drop)
}

/// Returns the name of a TCP socket's congestion control, padded with zeros; all zeros for other sockets.
pub(crate) fn congestion_control(fd: &OwnedFd) -> [u8; CONGESTION_CONTROL] {
    let mut name = [0; CONGESTION_CONTROL];
    let mut length = name.len() as libc::socklen_t;
    // SAFETY: `length` is the room in `name`, and the call writes no more.
    unsafe {
        libc::getsockopt(
            fd.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_CONGESTION,
            name.as_mut_ptr().cast(),
            &mut length,
        )
    };
    name
}

/// TCP_CA_NAME_MAX
const CONGESTION_CONTROL: usize = 16;

pub(crate) fn set_congestion_control(fd: &OwnedFd, name: &CStr) -> Result<(), Errno> {
    let name = name.to_bytes();
    // SAFETY: the kernel reads `name.len()` bytes, which live through the call.
    check(unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_CONGESTION,
            name.as_ptr().cast(),
            name.len() as libc::socklen_t,
        )
    })
    .map(drop)
}

/// Returns the pending error of a socket, 0 if there is none.
pub(crate) fn socket_error(fd: &OwnedFd) -> Errno {
    socket_option(fd, libc::SO_ERROR).unwrap_or(0)
}

fn socket_option(fd: &OwnedFd, name: c_int) -> Result<c_int, Errno> {
    let mut value: c_int = 0;
    let mut length = size_of::<c_int>() as libc::socklen_t;
    // SAFETY: the option is an int, and `length` says so.
    check(unsafe {
        libc::getsockopt(
            fd.as_raw_fd(),
            libc::SOL_SOCKET,
            name,
            (&raw mut value).cast(),
            &mut length,
        )
    })?;
    Ok(value)
}

/// Makes the close of a socket a reset, which tells the peer at once that its connection was cut.
pub(crate) fn reset_on_close(fd: &OwnedFd) {
    let linger = libc::linger {
        l_onoff: 1,
        l_linger: 0,
    };
    // SAFETY: the option is a `linger`, which lives through the call.
    unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_LINGER,
            (&raw const linger).cast(),
            size_of::<libc::linger>() as libc::socklen_t,
        )
    };
}

/// Ends the sending side, and reads the received bytes, so that the close does not cut off what was sent.
pub(crate) fn shutdown_and_drain(fd: &OwnedFd, scratch: &mut [u8]) {
    // SAFETY: no memory is passed.
    unsafe { libc::shutdown(fd.as_raw_fd(), libc::SHUT_WR) };
    let _ = receive(fd, scratch);
}
