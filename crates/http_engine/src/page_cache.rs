//! The page cache: the parts of a file that are in memory, and can be sent without waiting for a disk.

use std::os::fd::AsRawFd;
use std::sync::OnceLock;

use libc::c_int;

use crate::sys::{Errno, errno};

pub(crate) fn page_size() -> u64 {
    static SIZE: OnceLock<u64> = OnceLock::new();
    // SAFETY: no memory is passed.
    *SIZE.get_or_init(|| unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(4096) as u64)
}

/// Since Linux 6.5, the same number on every processor. The C library has no function for it.
const CACHESTAT: libc::c_long = 451;

/// Returns the number of pages of a file range in memory, if the kernel counts them.
pub(crate) fn cached_pages(file: &impl AsRawFd, at: u64, length: u64) -> Option<u64> {
    let range = [at, length];
    // The first of five counts is the cached pages.
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

/// Returns true if `mincore` is truthful for a file: since Linux 5.2 it reports files of other users as in memory.
pub(crate) fn shows_pages(stat: &libc::stat) -> bool {
    /// The user of files whose owner has no number in this user namespace.
    const NOBODY: libc::uid_t = 65534;
    // SAFETY: no memory is passed.
    let user = unsafe { libc::geteuid() };
    stat.st_uid == user || user == 0 && stat.st_uid != NOBODY
}

/// Returns true if all pages of a file range are in memory.
pub(crate) fn is_resident(file: &impl AsRawFd, at: u64, length: u64) -> bool {
    let page = page_size();
    let start = at / page * page;
    let length = (at + length - start) as usize;
    // SAFETY: a new mapping, which is never read.
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

/// Reads a byte of a file if that needs no disk access.
pub(crate) fn read_now(file: &impl AsRawFd, at: u64) -> Result<(), Errno> {
    const NO_WAIT: c_int = 8;
    let mut byte = 0_u8;
    let piece = libc::iovec {
        iov_base: (&raw mut byte).cast(),
        iov_len: 1,
    };
    // Called by number: glibc before 2.26 lacks the function. SAFETY: one piece of one byte, which lives through the call.
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
        // The file ends before that byte.
        0 => Err(libc::ENODATA),
        _ => Err(errno()),
    }
}
