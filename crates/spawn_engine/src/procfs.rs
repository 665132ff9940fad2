//! Processes as `/proc` shows them.
//!
//! A process is held by its open folder, which stands for that process alone, whatever its number is used for later: what is read
//! through it is of that process, and a signal through it reaches that process or none.

use std::ffi::CStr;
use std::os::fd::{AsRawFd, OwnedFd};

use kernel::opened;

use crate::sys::{self, Errno};

/// A process, by its open folder.
#[derive(Debug)]
pub(crate) struct Process {
    folder: OwnedFd,
}

/// What the kernel says of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    pub state: u8,
    /// In the numbers of `/proc`, which may be those of another namespace than ours.
    pub parent: u32,
    /// When it was started, in clock ticks since the boot.
    pub started: u64,
    pub is_kernel_thread: bool,
}

impl Stat {
    /// Whether it has ended and waits for being reaped.
    pub fn has_ended(&self) -> bool {
        matches!(self.state, b'Z' | b'X' | b'x')
    }
}

const PF_KTHREAD: u64 = 0x0020_0000;

impl Process {
    pub fn open(number: u32) -> Result<Self, Errno> {
        let path = format!("/proc/{number}\0");
        let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC;
        // SAFETY: the string is NUL-ended and outlives the call.
        let folder = unsafe { opened(libc::open(path.as_ptr().cast(), flags)) }?;
        Ok(Self { folder })
    }

    /// `None` once it has been reaped.
    pub fn stat(&self) -> Option<Stat> {
        parse_stat(&self.read(c"stat").ok()?)
    }

    /// What it was started with; empty for a moment while it execs, an error where it may not be read.
    pub fn environment(&self) -> Result<Vec<u8>, Errno> {
        self.read(c"environ")
    }

    /// Its control groups.
    pub fn groups(&self) -> Option<String> {
        String::from_utf8(self.read(c"cgroup").ok()?).ok()
    }

    /// Its numbers, from the namespace of `/proc` down to its own.
    pub fn numbers(&self) -> Vec<i32> {
        let status = self.read(c"status").unwrap_or_default();
        let status = String::from_utf8_lossy(&status);
        let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
        numbers
            .unwrap_or_default()
            .split_whitespace()
            .filter_map(|number| number.parse().ok())
            .collect()
    }

    /// Signals it, and no other.
    pub fn signal(&self, signal: i32) -> Result<(), Errno> {
        sys::send_signal(&self.folder, signal)
    }

    fn read(&self, name: &CStr) -> Result<Vec<u8>, Errno> {
        let flags = libc::O_RDONLY | libc::O_CLOEXEC;
        let folder = self.folder.as_raw_fd();
        // SAFETY: the string outlives the call.
        let fd = unsafe { opened(libc::openat(folder, name.as_ptr(), flags)) }?;
        let mut file = std::fs::File::from(fd);
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut file, &mut bytes)
            .map(|_| bytes)
            .map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))
    }
}

/// The name in the second field may hold anything, the parentheses around it included.
fn parse_stat(bytes: &[u8]) -> Option<Stat> {
    let end = bytes.iter().rposition(|&byte| byte == b')')?;
    let text = std::str::from_utf8(&bytes[end + 1..]).ok()?;
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    let flags: u64 = fields.get(6)?.parse().ok()?;
    Some(Stat {
        state: *fields.first()?.as_bytes().first()?,
        parent: fields.get(1)?.parse().ok()?,
        started: fields.get(19)?.parse().ok()?,
        is_kernel_thread: flags & PF_KTHREAD != 0,
    })
}

/// The numbers of all processes.
pub(crate) fn numbers() -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// The number that `/proc` has for this process.
pub(crate) fn own_number() -> Option<u32> {
    std::fs::read_link("/proc/self")
        .ok()?
        .to_str()?
        .parse()
        .ok()
}

/// The number that `/proc` has for the process behind a pidfd; `None` once it has been reaped.
pub(crate) fn number_of(pidfd: &OwnedFd) -> Option<u32> {
    let path = format!("/proc/self/fdinfo/{}", pidfd.as_raw_fd());
    let info = std::fs::read_to_string(path).ok()?;
    info.lines()
        .find_map(|line| line.strip_prefix("Pid:"))?
        .trim()
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_hide_the_fields() {
        let mut line = b"7 (a) R 1 (b)) S 42 7 7 0 -1 4194304".to_vec();
        line.extend_from_slice(b" 0 0 0 0 0 0 0 0 20 0 1 0 9876 0");
        let stat = parse_stat(&line).unwrap();
        assert_eq!((stat.state, stat.parent), (b'S', 42));
        assert_eq!(stat.started, 9876);
        assert!(!stat.is_kernel_thread && !stat.has_ended());
    }

    #[test]
    fn this_process_is_found_by_its_number() {
        let own = Process::open(own_number().unwrap()).unwrap();
        assert_eq!(
            own.numbers().last(),
            Some(&std::process::id().cast_signed())
        );
        assert!(own.stat().is_some());
        own.signal(0).unwrap();
    }

    #[test]
    fn a_signal_to_a_process_that_is_gone_reaches_nobody() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let process = Process::open(child.id()).unwrap();
        child.wait().unwrap();
        assert_eq!(process.signal(0), Err(libc::ESRCH));
        assert_eq!(process.stat(), None);
    }
}
