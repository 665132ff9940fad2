//! A range of a file that is sent by the kernel, without passing through memory of the process.
//!
//! sendfile of pages that are not in memory waits for the disk, and with it every connection in the same epoll instance. So only
//! pages in memory are sent: the rest is left to the owner, which reads it on other threads.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::{OwnedFd, RawFd};

use crate::page_cache;
use crate::sys::{self, Errno};

/// Min size, in bytes, of a part that is searched for in memory.
const MIN_PART: u64 = 64 * 1024;
/// Bytes between two checked pages: the kernel reads ahead in parts of this size, and counts the cached pages.
const COUNTED_STRIDE: u64 = 128 * 1024;
/// As above, if the kernel does not count: the smallest part that it reads ahead.
const STRIDE: u64 = 16 * 1024;

/// A range of a file, as the owner specifies it.
#[derive(Clone, Copy, Debug)]
pub struct FileRange {
    /// The descriptor. It remains the owner's.
    pub fd: RawFd,
    /// Its first byte; `None` for the descriptor's own position, which advances.
    pub at: Option<u64>,
    /// Max bytes: it ends where the file does.
    pub length: u64,
    /// Bytes per chunk; 0 without chunks.
    pub chunk: u32,
    /// The expected device of the file, and its inode there. If a module imitates the file system, a descriptor may mean another
    /// file, or none.
    pub device: u64,
    /// See above.
    pub inode: u64,
}

/// The rest of such a range, on a descriptor of the engine's own: the owner may close its descriptor, whose number may then mean
/// another file.
pub(crate) struct FilePart {
    file: File,
    at: Option<u64>,
    remaining: u64,
    /// True if the kernel reports the pages of a mapping truthfully to this process. For files of other users, all pages seem to
    /// be in memory.
    shows_pages: bool,
    /// Bytes per chunk; 0 without chunks.
    pub chunk: usize,
    /// Bytes sent or copied.
    pub sent: u64,
    /// True if its end is reported to the owner.
    pub is_reported: bool,
    /// Bytes that follow it.
    pub bytes_after: Vec<u8>,
}

impl FilePart {
    /// Returns `None` if nothing of it can be sent.
    pub fn open(range: FileRange) -> Option<Self> {
        let fd = sys::duplicate(range.fd).ok()?;
        let stat = sys::stat(&fd).ok()?;
        let is_expected = stat.st_mode & libc::S_IFMT == libc::S_IFREG
            && stat.st_dev == range.device
            && stat.st_ino == range.inode;
        if !is_expected {
            return None;
        }
        let start = match range.at {
            Some(at) => at,
            None => sys::position(&fd).ok()?,
        };
        let size = u64::try_from(stat.st_size).ok()?;
        let remaining = size.saturating_sub(start).min(range.length);
        (remaining > 0).then(|| Self {
            file: File::from(fd),
            at: range.at,
            remaining,
            shows_pages: page_cache::shows_pages(&stat),
            chunk: range.chunk as usize,
            sent: 0,
            is_reported: false,
            bytes_after: Vec::new(),
        })
    }

    pub fn remaining(&self) -> u64 {
        self.remaining
    }

    /// Returns the number of the next bytes, up to `max`, that are in memory.
    pub fn cached_length(&self, max: u64) -> u64 {
        let at = match self.at {
            Some(at) => at,
            None => match sys::position(&self.file) {
                Ok(at) => at,
                Err(_) => return 0,
            },
        };
        let mut length = max.min(self.remaining);
        while !is_in_memory(&self.file, at, length, self.shows_pages) {
            if length <= MIN_PART {
                return 0;
            }
            length = (length / 2).max(MIN_PART);
        }
        length
    }

    /// Sends up to `length` bytes to a socket that does not block; `Ok(0)` at the end of the file.
    pub fn send(&mut self, socket: &OwnedFd, length: u64) -> Result<u64, Errno> {
        let sent = sys::send_file(socket, &self.file, self.at, length as usize)? as u64;
        self.advance(sent);
        Ok(sent)
    }

    /// Copies `length` bytes that are in memory. Returns false if fewer can be read; these are copied.
    pub fn copy(&mut self, length: usize, into: &mut Vec<u8>) -> bool {
        let start = into.len();
        into.resize(start + length, 0);
        let mut copied = 0;
        while copied < length {
            let rest = &mut into[start + copied..];
            let read = match self.at {
                Some(at) => std::os::unix::fs::FileExt::read_at(&self.file, rest, at),
                None => self.file.read(rest),
            };
            match read {
                Ok(0) => break,
                Ok(count) => {
                    self.advance(count as u64);
                    copied += count;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        into.truncate(start + copied);
        copied == length
    }

    fn advance(&mut self, length: u64) {
        self.remaining -= length;
        self.sent += length;
        if let Some(at) = &mut self.at {
            *at += length;
        }
    }
}

/// Returns true if reading these bytes needs no disk, as far as the kernel reports. It reports that in three ways, and each file
/// system lacks some of them.
fn is_in_memory(file: &File, at: u64, length: u64, shows_pages: bool) -> bool {
    let page = page_cache::page_size();
    let last = at + length - 1;
    let pages = last / page - at / page + 1;
    let counted = page_cache::cached_pages(file, at, length);
    let is_counted = counted.is_some_and(|counted| counted >= pages);
    match page_cache::read_now(file, at) {
        Ok(()) => {}
        // tmpfs counts; for files on another file system, as with overlayfs, only a mapping shows.
        Err(libc::EOPNOTSUPP | libc::EINVAL | libc::ENOSYS) => {
            return is_counted || shows_pages && page_cache::is_resident(file, at, length);
        }
        Err(_) => return false,
    }
    // None is counted, although one was read: the pages are counted elsewhere.
    if counted.is_some_and(|counted| counted > 0) && !is_counted {
        return false;
    }
    // A counted page may still be under way from the disk.
    let stride = if is_counted { COUNTED_STRIDE } else { STRIDE };
    let mut next = at;
    while next < last {
        next = (next + stride).min(last);
        if page_cache::read_now(file, next).is_err() {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::MetadataExt;

    use super::*;

    fn range(file: &File) -> FileRange {
        let stat = file.metadata().expect("its facts");
        FileRange {
            fd: file.as_raw_fd(),
            at: Some(0),
            length: u64::MAX,
            chunk: 0,
            device: stat.dev(),
            inode: stat.ino(),
        }
    }

    #[test]
    fn only_the_regular_file_that_is_meant_is_sent() {
        let path = std::env::temp_dir().join(format!("http-engine-file-{}", std::process::id()));
        fs::write(&path, vec![b'x'; 100_000]).expect("a file");
        let file = File::open(&path).expect("the file");
        fs::remove_file(&path).expect("its end");
        let whole = FilePart::open(range(&file)).expect("a part");
        assert_eq!(whole.remaining(), 100_000);
        assert_eq!(whole.cached_length(u64::MAX), 100_000);
        let middle = FileRange {
            at: Some(99_990),
            length: 5,
            ..range(&file)
        };
        assert_eq!(FilePart::open(middle).expect("a part").remaining(), 5);
        let behind = FileRange {
            at: Some(100_000),
            ..range(&file)
        };
        assert!(FilePart::open(behind).is_none());
        let other = FileRange {
            inode: range(&file).inode + 1,
            ..range(&file)
        };
        assert!(FilePart::open(other).is_none());
        let closed = FileRange {
            fd: -1,
            ..range(&file)
        };
        assert!(FilePart::open(closed).is_none());
        let device = File::open("/dev/zero").expect("a device");
        assert!(FilePart::open(range(&device)).is_none());
        let folder = File::open("/").expect("a folder");
        assert!(FilePart::open(range(&folder)).is_none());
    }
}
