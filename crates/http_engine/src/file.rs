//! A part of a file that leaves by the kernel, without passing through memory of the process.
//!
//! sendfile of pages that are not in memory waits for the disk, and with it everybody whose connection is in the same epoll. So only
//! what is in memory is sent: the rest is left to the owner, which reads it on other threads.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::{OwnedFd, RawFd};

use crate::sys::{self, Errno};

/// Below so many bytes no smaller part is looked for that is in memory.
const LEAST: u64 = 64 * 1024;
/// Bytes from one page that is looked at to the next: the kernel reads ahead in parts of this size, and counts what is there.
const COUNTED_STRIDE: u64 = 128 * 1024;
/// As above, where the kernel does not count: the smallest part that it reads ahead.
const STRIDE: u64 = 16 * 1024;

/// A part of a file, as the owner names it.
#[derive(Clone, Copy, Debug)]
pub struct FileRange {
    /// The descriptor. It stays the owner's.
    pub fd: RawFd,
    /// Its first byte; `None` for the descriptor's own position, which moves along.
    pub at: Option<u64>,
    /// How many bytes at the most: it ends where the file does.
    pub length: u64,
    /// The bytes of a chunk; 0 without chunks.
    pub chunk: u32,
    /// The device that the file has to be on, and its number there. A descriptor of somebody who imitates the file system means
    /// another file, if any.
    pub device: u64,
    /// See above.
    pub inode: u64,
}

/// The rest of such a part, on a descriptor of the engine's own: that of the owner may be closed, and its number mean another file.
pub(crate) struct FilePart {
    file: File,
    at: Option<u64>,
    left: u64,
    /// The kernel tells this process the truth about the pages of a mapping. Those of other users all seem to be there.
    shows_pages: bool,
    /// The bytes of a chunk; 0 without chunks.
    pub chunk: usize,
    /// Bytes that have left, or were copied.
    pub moved: u64,
    /// The owner hears of its end.
    pub is_reported: bool,
    /// Bytes behind it.
    pub behind: Vec<u8>,
}

impl FilePart {
    /// `None` when nothing of it can be sent.
    pub fn open(range: FileRange) -> Option<Self> {
        let fd = sys::duplicate(range.fd).ok()?;
        let stat = sys::stat(&fd).ok()?;
        let is_meant = stat.st_mode & libc::S_IFMT == libc::S_IFREG
            && stat.st_dev == range.device
            && stat.st_ino == range.inode;
        if !is_meant {
            return None;
        }
        let start = match range.at {
            Some(at) => at,
            None => sys::position(&fd).ok()?,
        };
        let size = u64::try_from(stat.st_size).ok()?;
        let left = size.saturating_sub(start).min(range.length);
        (left > 0).then(|| Self {
            file: File::from(fd),
            at: range.at,
            left,
            shows_pages: sys::shows_pages(&stat),
            chunk: range.chunk as usize,
            moved: 0,
            is_reported: false,
            behind: Vec::new(),
        })
    }

    pub fn left(&self) -> u64 {
        self.left
    }

    /// How many of the next bytes, up to `most`, are in memory.
    pub fn in_memory(&self, most: u64) -> u64 {
        let at = match self.at {
            Some(at) => at,
            None => match sys::position(&self.file) {
                Ok(at) => at,
                Err(_) => return 0,
            },
        };
        let mut length = most.min(self.left);
        while !is_in_memory(&self.file, at, length, self.shows_pages) {
            if length <= LEAST {
                return 0;
            }
            length = (length / 2).max(LEAST);
        }
        length
    }

    /// Sends up to `length` bytes to a socket that does not block; `Ok(0)` at the end of the file.
    pub fn send(&mut self, socket: &OwnedFd, length: u64) -> Result<u64, Errno> {
        let sent = sys::send_file(socket, &self.file, self.at, length as usize)? as u64;
        self.advance(sent);
        Ok(sent)
    }

    /// Copies `length` bytes that are in memory. False when fewer can be read, which are copied.
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
        self.left -= length;
        self.moved += length;
        if let Some(at) = &mut self.at {
            *at += length;
        }
    }
}

/// True where reading these bytes waits for no disk, as far as the kernel says. It says so in three ways, and each file system lacks
/// some of them.
fn is_in_memory(file: &File, at: u64, length: u64, shows_pages: bool) -> bool {
    let page = sys::page_size();
    let last = at + length - 1;
    let pages = last / page - at / page + 1;
    let counted = sys::cached_pages(file, at, length);
    let is_counted = counted.is_some_and(|counted| counted >= pages);
    match sys::read_now(file, at) {
        Ok(()) => {}
        // tmpfs counts; of what lies on another file system, as with overlayfs, only a mapping tells.
        Err(libc::EOPNOTSUPP | libc::EINVAL | libc::ENOSYS) => {
            return is_counted || shows_pages && sys::is_resident(file, at, length);
        }
        Err(_) => return false,
    }
    // None at all, and yet one was read: they are counted elsewhere.
    if counted.is_some_and(|counted| counted > 0) && !is_counted {
        return false;
    }
    // A page that is counted may still be on its way from the disk.
    let stride = if is_counted { COUNTED_STRIDE } else { STRIDE };
    let mut next = at;
    while next < last {
        next = (next + stride).min(last);
        if sys::read_now(file, next).is_err() {
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
        assert_eq!(whole.left(), 100_000);
        assert_eq!(whole.in_memory(u64::MAX), 100_000);
        let middle = FileRange {
            at: Some(99_990),
            length: 5,
            ..range(&file)
        };
        assert_eq!(FilePart::open(middle).expect("a part").left(), 5);
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
