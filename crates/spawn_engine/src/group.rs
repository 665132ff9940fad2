//! A control group (cgroup v2) for a child and its descendants, if this process may create one: the kernel ends all of a group at
//! once, including processes forked meanwhile.
//!
//! The folder of a group lies in that of our own group and is removed once it is empty. A folder left by a process that ended
//! first is removed by the next process.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use crate::sys::lock;

const PREFIX: &str = "redline-";

/// Groups that were not empty when their child ended.
static NOT_EMPTY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

#[derive(Clone, Debug)]
pub(crate) struct Group {
    path: PathBuf,
}

impl Group {
    /// Creates the group of that name; `None` if this process lacks the permission.
    pub fn create(name: &str) -> Option<Self> {
        let base = base()?;
        remove_leftover();
        let path = base.join(format!("{PREFIX}{name}"));
        fs::create_dir(&path).ok()?;
        Some(Self { path })
    }

    pub fn find(name: &str) -> Option<Self> {
        let path = base()?.join(format!("{PREFIX}{name}"));
        path.is_dir().then_some(Self { path })
    }

    /// Opens the file to which a process writes `0` to become a member.
    pub fn membership_file(&self) -> Option<OwnedFd> {
        let file = fs::OpenOptions::new()
            .write(true)
            .open(self.path.join("cgroup.procs"));
        file.ok().map(OwnedFd::from)
    }

    /// Kills every member, including processes they fork meanwhile.
    pub fn kill(&self) {
        let _ = fs::write(self.path.join("cgroup.kill"), "1");
    }

    /// Returns true for a member, by its `/proc/PID/cgroup`.
    pub fn contains(&self, membership: &str) -> bool {
        let Some(name) = self.path.file_name().and_then(|name| name.to_str()) else {
            return false;
        };
        membership
            .lines()
            .filter_map(|line| line.strip_prefix("0::"))
            .any(|path| path.split('/').any(|part| part == name))
    }

    /// Removes the group, now or once it is empty.
    pub fn remove(self) {
        if is_not_empty(fs::remove_dir(&self.path)) {
            lock(&NOT_EMPTY).push(self.path);
        }
    }
}

fn is_not_empty(removed: std::io::Result<()>) -> bool {
    removed.is_err_and(|error| error.raw_os_error() == Some(libc::EBUSY))
}

/// Removes the remaining groups that are empty by now.
pub(crate) fn remove_leftover() {
    lock(&NOT_EMPTY).retain(|path| is_not_empty(fs::remove_dir(path)));
}

/// Returns the folder of our own group, if groups can be created and killed there.
fn base() -> Option<&'static Path> {
    static BASE: OnceLock<Option<PathBuf>> = OnceLock::new();
    BASE.get_or_init(find_base).as_deref()
}

fn find_base() -> Option<PathBuf> {
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = own.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let (root, mount) = mounts.lines().find_map(|line| {
        let (fields, kind) = line.split_once(" - ")?;
        let mut fields = fields.split(' ').skip(3);
        let found = (fields.next()?, fields.next()?);
        kind.starts_with("cgroup2 ").then_some(found)
    })?;
    let own = Path::new("/").join(own);
    let base = Path::new(mount).join(own.strip_prefix(root).ok()?);
    // Groups of processes that have ended; a group with members stays.
    for entry in fs::read_dir(&base).ok()?.flatten() {
        if entry.file_name().to_string_lossy().starts_with(PREFIX) {
            let _ = fs::remove_dir(entry.path());
        }
    }
    let probe = base.join(format!("{PREFIX}probe-{}", std::process::id()));
    fs::create_dir(&probe).ok()?;
    let is_usable = fs::OpenOptions::new()
        .write(true)
        .open(probe.join("cgroup.kill"))
        .is_ok();
    let _ = fs::remove_dir(&probe);
    is_usable.then_some(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_told_by_the_folder_of_the_group_wherever_it_is() {
        let group = Group {
            path: PathBuf::from("/sys/fs/cgroup/a/redline-x-1"),
        };
        assert!(group.contains("4:memory:/\n0::/a/redline-x-1\n"));
        assert!(group.contains("0::/a/redline-x-1/below\n"));
        assert!(!group.contains("0::/a/redline-x-12\n"));
        assert!(!group.contains("3:pids:/a/redline-x-1\n0::/\n"));
    }
}
