//! The few system calls the engine is made of, as functions that return `Result`.

use std::ffi::CStr;
use std::mem;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::OnceLock;
use std::time::Duration;

pub use kernel::Errno;
pub(crate) use kernel::{Epoll, check, errno, opened};
use libc::{c_int, c_void};

/// A copy of `fd`, which stays the caller's.
pub(crate) fn duplicate(fd: RawFd) -> Result<OwnedFd, Errno> {
    // SAFETY: no memory is passed; a bad descriptor is reported as EBADF. The call creates the copy.
    unsafe { opened(libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3)) }
}

/// A copy of a connection that somebody else has accepted.
///
/// # Errors
/// EBADF or ENOTSOCK for a descriptor that is closed or not a socket, EINVAL for a socket that is not a stream with a peer, EMFILE.
pub fn copy_connection(fd: RawFd) -> Result<OwnedFd, Errno> {
    // The kind of the copy: the number may mean something else by now.
    let copy = duplicate(fd)?;
    let kind = socket_option(&copy, libc::SO_TYPE)?;
    let listens = socket_option(&copy, libc::SO_ACCEPTCONN)? != 0;
    if kind != libc::SOCK_STREAM || listens {
        return Err(libc::EINVAL);
    }
    Ok(copy)
}

/// Milliseconds since some moment in the past.
pub(crate) fn now_ms() -> u64 {
    now().as_millis() as u64
}

/// How long ago that moment is.
pub(crate) fn now() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call fills `time`; this clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Reads what is there; `Ok(0)` is the end.
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

/// Sends what the kernel takes now. `Ok(0)` when it takes nothing.
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

/// As [`send`], of bytes that others follow at once.
pub(crate) fn send_more(fd: &OwnedFd, bytes: &[u8]) -> Result<usize, Errno> {
    send_with(fd, bytes, libc::MSG_MORE)
}

/// As [`send`], several pieces in one call.
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

/// Sends what the kernel takes of a file, from `at` or from the descriptor's position; `Ok(0)` at its end. The socket does not block.
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

/// The position at which a descriptor reads next.
pub(crate) fn position(fd: &impl AsRawFd) -> Result<u64, Errno> {
    // SAFETY: no memory is passed.
    let at = unsafe { libc::lseek(fd.as_raw_fd(), 0, libc::SEEK_CUR) };
    u64::try_from(at).map_err(|_| errno())
}

pub(crate) fn page_size() -> u64 {
    static SIZE: OnceLock<u64> = OnceLock::new();
    // SAFETY: no memory is passed.
    *SIZE.get_or_init(|| unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(4096) as u64)
}

/// Linux 6.5, the same number on every processor. The C library has no function for it.
const CACHESTAT: libc::c_long = 451;

/// How many pages of a part of a file are in memory, where the kernel counts them.
pub(crate) fn cached_pages(file: &impl AsRawFd, at: u64, length: u64) -> Option<u64> {
    let range = [at, length];
    // The first of five counts.
    let mut counts = [0_u64; 5];
    // SAFETY: the kernel reads two words and writes five, which live through the call.
    let result = unsafe {
        libc::syscall(
            CACHESTAT,
            file.as_raw_fd(),
            range.as_ptr(),
            counts.as_mut_ptr(),
            0,
        )
    };
    (result == 0).then_some(counts[0])
}

/// True where `mincore` tells this process the truth about a file: from Linux 5.2 on, that of other users is said to be in memory.
pub(crate) fn shows_pages(stat: &libc::stat) -> bool {
    /// The user of files whose own one has no number in this user namespace.
    const NOBODY: libc::uid_t = 65534;
    // SAFETY: no memory is passed.
    let user = unsafe { libc::geteuid() };
    stat.st_uid == user || user == 0 && stat.st_uid != NOBODY
}

/// True where all pages of a part of a file are in memory.
pub(crate) fn is_resident(file: &impl AsRawFd, at: u64, length: u64) -> bool {
    let page = page_size();
    let start = at / page * page;
    let length = (at + length - start) as usize;
    // SAFETY: a mapping of its own, which nobody reads.
    let map = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            length,
            libc::PROT_READ,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            start as libc::off_t,
        )
    };
    if map == libc::MAP_FAILED {
        return false;
    }
    let mut pages = vec![0_u8; length.div_ceil(page as usize)];
    // SAFETY: `pages` has a byte for each page of the mapping, which ends here.
    let result = unsafe {
        let result = libc::mincore(map, length, pages.as_mut_ptr());
        libc::munmap(map, length);
        result
    };
    result == 0 && pages.iter().all(|page| page & 1 == 1)
}

/// Reads a byte of a file if that waits for no disk.
pub(crate) fn read_now(file: &impl AsRawFd, at: u64) -> Result<(), Errno> {
    const NO_WAIT: c_int = 8;
    let mut byte = 0_u8;
    let piece = libc::iovec {
        iov_base: (&raw mut byte).cast(),
        iov_len: 1,
    };
    // By its number: glibc has the function from 2.26 on. SAFETY: one piece of one byte, which lives through the call.
    let read = unsafe {
        libc::syscall(
            libc::SYS_preadv2,
            file.as_raw_fd(),
            &raw const piece,
            1_usize,
            at as usize,
            0_usize,
            NO_WAIT,
        )
    };
    match read {
        1 => Ok(()),
        // The file has ended before that byte.
        0 => Err(libc::ENODATA),
        _ => Err(errno()),
    }
}

/// Blocks until `fd` can be read.
pub(crate) fn wait_readable(fd: RawFd) {
    let mut entry = libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: one entry, which lives through the call. An interruption is a spurious wake.
    unsafe { libc::poll(&mut entry, 1, -1) };
}

/// Accepts a connection; `Ok(None)` when none is waiting.
pub(crate) fn accept(listener: &OwnedFd) -> Result<Option<OwnedFd>, Errno> {
    // SAFETY: no address is asked for, and the call creates the descriptor.
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
        // The peer is gone already, or the network reports it.
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

/// The name of a TCP socket's congestion control, padded with zeros; all zeros for other sockets.
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

/// The error the kernel keeps for a socket, 0 when there is none.
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

/// A close that tells the peer at once that its connection was cut.
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

/// Ends the sending side, and takes what has come, so that the close does not cut off what was sent.
pub(crate) fn finish(fd: &OwnedFd, scratch: &mut [u8]) {
    // SAFETY: no memory is passed.
    unsafe { libc::shutdown(fd.as_raw_fd(), libc::SHUT_WR) };
    let _ = receive(fd, scratch);
}

/// A descriptor that is readable while somebody asks for a turn.
pub(crate) struct Bell(OwnedFd);

impl Bell {
    pub fn new() -> Result<Self, Errno> {
        // SAFETY: no memory is passed, and the call creates the descriptor.
        unsafe { opened(libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK)) }.map(Self)
    }

    pub fn fd(&self) -> &OwnedFd {
        &self.0
    }

    pub fn ring(&self) {
        let one = 1_u64;
        // SAFETY: eight bytes of a live value are read.
        unsafe { libc::write(self.0.as_raw_fd(), (&raw const one).cast(), 8) };
    }

    pub fn silence(&self) {
        let mut count = 0_u64;
        // SAFETY: eight bytes of a live value are written.
        unsafe { libc::read(self.0.as_raw_fd(), (&raw mut count).cast(), 8) };
    }
}

/// A descriptor that becomes readable at a given time.
pub(crate) struct Alarm(OwnedFd);

impl Alarm {
    pub fn new() -> Result<Self, Errno> {
        let flags = libc::TFD_CLOEXEC | libc::TFD_NONBLOCK;
        // SAFETY: as for a bell.
        unsafe { opened(libc::timerfd_create(libc::CLOCK_MONOTONIC, flags)) }.map(Self)
    }

    pub fn fd(&self) -> &OwnedFd {
        &self.0
    }

    /// At `at_ms` of [`now_ms`]; 0 means never.
    pub fn set(&self, at_ms: u64) {
        // SAFETY: an all-zero value is valid.
        let mut value: libc::itimerspec = unsafe { mem::zeroed() };
        value.it_value.tv_sec = (at_ms / 1000) as _;
        value.it_value.tv_nsec = (at_ms % 1000 * 1_000_000) as _;
        // SAFETY: `value` outlives the call.
        unsafe {
            libc::timerfd_settime(
                self.0.as_raw_fd(),
                libc::TFD_TIMER_ABSTIME,
                &value,
                std::ptr::null_mut(),
            )
        };
    }
}
