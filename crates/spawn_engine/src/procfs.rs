//! Processes as `/proc` shows them.
//!
//! A process is held by its open folder, which stands for that process alone, even if its number is reused later: everything read
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

/// The kernel's record of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    pub state: u8,
    /// In the numbers of `/proc`, which may belong to another namespace than ours.
    pub parent: u32,
    pub threads: u64,
    /// Start time, in clock ticks since the boot.
    pub started: u64,
    pub is_kernel_thread: bool,
}

impl Stat {
    /// Returns true for a process that has ended and is not reaped yet. The state is that of its first thread, which other
    /// threads may outlive.
    pub fn has_ended(&self) -> bool {
        match self.state {
            b'Z' => self.threads <= 1,
            state => matches!(state, b'X' | b'x'),
        }
    }
}

const PF_KTHREAD: u64 = 0x0020_0000;

impl Process {
    pub fn open(number: u32) -> Result<Self, Errno> {
        let path = format!("/proc/{number}\0");
        let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC;
        // SAFETY: the string is NUL-terminated and outlives the call.
        let folder = unsafe { opened(libc::open(path.as_ptr().cast(), flags)) }?;
        Ok(Self { folder })
    }

    /// Reads the process's record.
    ///
    /// # Errors
    /// A shortage, see [`is_shortage`]; ENOENT or ESRCH once it has been reaped; ENOENT also for a process that `hidepid` hides.
    pub fn stat(&self) -> Result<Stat, Errno> {
        parse_stat(&self.read(c"stat")?).ok_or(libc::EIO)
    }

    /// Returns false once it has ended. A process that cannot be read, for lack of descriptors or permissions, counts as live
    /// until it is reaped: a signal, which needs neither, shows that.
    pub fn is_live(&self) -> bool {
        match self.stat() {
            Ok(stat) => !stat.has_ended(),
            Err(_) => !self.is_reaped(),
        }
    }

    /// Returns true once its number may belong to another process.
    pub fn is_reaped(&self) -> bool {
        self.signal(0) == Err(libc::ESRCH)
    }

    /// Returns its initial environment; empty for a moment while it execs, an error if it may not be read.
    pub fn environment(&self) -> Result<Vec<u8>, Errno> {
        self.read(c"environ")
    }

    pub fn groups(&self) -> Result<String, Errno> {
        String::from_utf8(self.read(c"cgroup")?).map_err(|_| libc::EIO)
    }

    /// Returns its numbers, from the namespace of `/proc` down to its own.
    pub fn numbers(&self) -> Result<Vec<i32>, Errno> {
        let status = self.read(c"status")?;
        let status = String::from_utf8_lossy(&status);
        let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
        Ok(numbers
            .unwrap_or_default()
            .split_whitespace()
            .filter_map(|number| number.parse().ok())
            .collect())
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
            .map_err(error_number)
    }
}

/// Parses a `stat` line. The name in the second field may contain anything, including the parentheses that enclose it.
fn parse_stat(bytes: &[u8]) -> Option<Stat> {
    let end = bytes.iter().rposition(|&byte| byte == b')')?;
    let text = std::str::from_utf8(&bytes[end + 1..]).ok()?;
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    let flags: u64 = fields.get(6)?.parse().ok()?;
    Some(Stat {
        state: *fields.first()?.as_bytes().first()?,
        parent: fields.get(1)?.parse().ok()?,
        threads: fields.get(17)?.parse().ok()?,
        started: fields.get(19)?.parse().ok()?,
        is_kernel_thread: flags & PF_KTHREAD != 0,
    })
}

/// Returns true for an error caused by a lack of descriptors or memory, which may soon pass.
pub(crate) fn is_shortage(error: Errno) -> bool {
    matches!(error, libc::EMFILE | libc::ENFILE | libc::ENOMEM)
}

/// Returns the numbers of all processes.
pub(crate) fn numbers() -> Result<Vec<u32>, Errno> {
    let mut numbers = Vec::new();
    for entry in std::fs::read_dir("/proc").map_err(error_number)? {
        let name = entry.map_err(error_number)?.file_name();
        numbers.extend(name.to_str().and_then(|name| name.parse::<u32>().ok()));
    }
    Ok(numbers)
}

fn error_number(error: std::io::Error) -> Errno {
    error.raw_os_error().unwrap_or(libc::EIO)
}

/// Returns this process's number in `/proc`.
pub(crate) fn own_number() -> Option<u32> {
    std::fs::read_link("/proc/self")
        .ok()?
        .to_str()?
        .parse()
        .ok()
}

/// Returns the number in `/proc` of a pidfd's process.
///
/// # Errors
/// ESRCH once it has been reaped; a shortage, see [`is_shortage`].
pub(crate) fn number_of(pidfd: &OwnedFd) -> Result<u32, Errno> {
    let path = format!("/proc/self/fdinfo/{}", pidfd.as_raw_fd());
    let info = std::fs::read_to_string(path).map_err(error_number)?;
    info.lines()
        .find_map(|line| line.strip_prefix("Pid:")?.trim().parse().ok())
        .ok_or(libc::ESRCH)
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
    fn a_process_whose_first_thread_has_ended_lives_as_long_as_another_runs() {
        let stat = |threads: u64| {
            let line = format!("7 (a) Z 42 7 7 0 -1 4 0 0 0 0 0 0 0 0 20 0 {threads} 0 9876 0");
            parse_stat(line.as_bytes()).unwrap()
        };
        assert!(!stat(2).has_ended());
        assert!(stat(1).has_ended());
    }

    #[test]
    fn this_process_is_found_by_its_number() {
        let own = Process::open(own_number().unwrap()).unwrap();
        assert_eq!(
            own.numbers().unwrap().last(),
            Some(&std::process::id().cast_signed())
        );
        assert!(own.is_live() && !own.is_reaped());
        own.signal(0).unwrap();
    }

    #[test]
    fn a_signal_to_a_process_that_is_gone_reaches_nobody() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let process = Process::open(child.id()).unwrap();
        child.wait().unwrap();
        assert_eq!(process.signal(0), Err(libc::ESRCH));
        assert!(process.stat().is_err_and(|error| !is_shortage(error)));
        assert!(process.is_reaped() && !process.is_live());
    }
}
