//! The files a request names, held open from the call on.
//!
//! Node's `spawn` returns after the exec, so a program or a folder that is renamed or removed right after the call has served its
//! purpose by then. Our requests are queued: they hold both open, without access (`O_PATH`), until the child has them.

use std::collections::HashMap;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::{Arc, Mutex, Weak};

use crate::environment::Environment;
use crate::request::Request;
use crate::sys::{self, Errno, lock};

/// Max remembered program names, and max held files.
const MAX_REMEMBERED: usize = 64;

/// The files of a request. Queued children of one program share one descriptor of it: the queue may be longer than the limit of
/// descriptors.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The folder in which the child starts, if the request names one.
    pub folder: Option<Arc<OwnedFd>>,
    pub program: Option<Arc<OwnedFd>>,
    /// True if one of them is missing or has the wrong type: the start will fail.
    pub is_doubtful: bool,
}

/// Locations of programs, for one PATH.
#[derive(Default)]
pub(crate) struct Lookup(Mutex<Cache>);

#[derive(Default)]
struct Cache {
    path: Vec<u8>,
    files: HashMap<Vec<u8>, Vec<u8>>,
    /// By device and inode: the files held by queued requests.
    held: HashMap<(libc::dev_t, libc::ino_t), Weak<OwnedFd>>,
}

impl Lookup {
    /// Opens the files of a request.
    ///
    /// # Errors
    /// EMFILE or ENFILE: no descriptors left.
    pub fn find(&self, request: &Request) -> Result<Found, Errno> {
        let mut found = Found::default();
        if let Some(cwd) = &request.cwd {
            let Some(folder) = ignore_unusable(sys::open_path(None, cwd, libc::O_DIRECTORY))?
            else {
                found.is_doubtful = true;
                return Ok(found);
            };
            found.folder = Some(match sys::status_of(&folder) {
                Some(status) => self.share(folder, &status),
                None => Arc::new(folder),
            });
        }
        let folder = found.folder.as_ref().map(|folder| folder.as_raw_fd());
        let open = |file: &[u8]| ignore_unusable(sys::open_path(folder, file, 0));
        let program = if request.file.contains(&b'/') {
            open(&request.file)?
        } else {
            self.search(&request.file, &request.env, open)?
        };
        found.is_doubtful = true;
        if let Some(program) = program
            && let Some(status) = sys::status_of(&program)
        {
            found.is_doubtful = !sys::is_program(&status);
            found.program = Some(self.share(program, &status));
        }
        Ok(found)
    }

    /// Returns the descriptor of the same file that another request holds already, otherwise this one.
    fn share(&self, file: OwnedFd, status: &libc::stat) -> Arc<OwnedFd> {
        let held = &mut lock(&self.0).held;
        let identity = (status.st_dev, status.st_ino);
        if let Some(held) = held.get(&identity).and_then(Weak::upgrade) {
            return held;
        }
        if held.len() >= MAX_REMEMBERED {
            held.retain(|_, file| file.strong_count() > 0);
        }
        let file = Arc::new(file);
        held.insert(identity, Arc::downgrade(&file));
        file
    }

    fn search(
        &self,
        name: &[u8],
        env: &Environment,
        open: impl Fn(&[u8]) -> Result<Option<OwnedFd>, Errno>,
    ) -> Result<Option<OwnedFd>, Errno> {
        let path = env.path();
        let mut cache = lock(&self.0);
        if cache.path != path || cache.files.len() >= MAX_REMEMBERED {
            cache.path = path.to_vec();
            cache.files.clear();
        }
        if let Some(file) = cache.files.get(name)
            && let Some(program) = open(file)?
        {
            return Ok(Some(program));
        }
        for folder in path.split(|&byte| byte == b':') {
            let file = join(folder, name);
            if let Some(program) = open(&file)? {
                if file.starts_with(b"/") {
                    cache.files.insert(name.to_vec(), file);
                }
                return Ok(Some(program));
            }
        }
        Ok(None)
    }
}

/// Joins a program's name to an entry of PATH.
pub(crate) fn join(folder: &[u8], name: &[u8]) -> Vec<u8> {
    let mut file = Vec::with_capacity(folder.len() + 1 + name.len());
    file.extend_from_slice(folder);
    // An empty entry is the current folder.
    if !folder.is_empty() {
        file.push(b'/');
    }
    file.extend_from_slice(name);
    file
}

/// Drops errors that only make a request doubtful.
fn ignore_unusable(opened: Result<OwnedFd, Errno>) -> Result<Option<OwnedFd>, Errno> {
    match opened {
        Ok(fd) => Ok(Some(fd)),
        Err(error @ (libc::EMFILE | libc::ENFILE)) => Err(error),
        Err(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(file: &str, path: &str, cwd: Option<&str>) -> Found {
        let request = Request {
            file: format!("{file}\0").into(),
            cwd: cwd.map(|cwd| format!("{cwd}\0").into()),
            env: Environment::new(format!("PATH={path}\0").into()).into(),
            ..Request::default()
        };
        Lookup::default().find(&request).unwrap()
    }

    #[test]
    fn a_program_is_found_in_the_path() {
        let found = find("sh", "/nowhere:/bin", None);
        assert!(found.program.is_some() && !found.is_doubtful);
    }

    #[test]
    fn a_relative_program_is_found_in_the_folder_of_the_child() {
        let found = find("./sh", "", Some("/bin"));
        assert!(found.program.is_some() && found.folder.is_some() && !found.is_doubtful);
    }

    #[test]
    fn what_is_missing_or_not_a_program_is_doubtful() {
        assert!(find("redline-no-such-program", "/bin", None).is_doubtful);
        assert!(find("/etc/passwd", "", None).is_doubtful);
        assert!(find("/etc", "", None).is_doubtful);
        assert!(find("sh", "/bin", Some("/etc/passwd")).is_doubtful);
    }

    #[test]
    fn a_remembered_file_that_is_gone_is_searched_for_again() {
        let lookup = Lookup::default();
        let cache = Cache {
            path: b"/bin".to_vec(),
            files: HashMap::from([(b"sh\0".to_vec(), b"/nowhere/sh\0".to_vec())]),
            ..Cache::default()
        };
        *lock(&lookup.0) = cache;
        let request = Request {
            file: b"sh\0".to_vec(),
            env: Environment::new(b"PATH=/bin\0".to_vec()).into(),
            ..Request::default()
        };
        assert!(lookup.find(&request).unwrap().program.is_some());
    }

    #[test]
    fn those_who_wait_for_one_program_hold_one_descriptor_of_it() {
        let lookup = Lookup::default();
        let find = |file: &str| {
            let request = Request {
                file: format!("{file}\0").into(),
                cwd: Some(b"/bin\0".to_vec()),
                ..Request::default()
            };
            lookup.find(&request).unwrap()
        };
        let (first, second, other) = (find("/bin/sh"), find("./sh"), find("/bin/true"));
        let is_shared = |a: &Option<Arc<OwnedFd>>, b: &Option<Arc<OwnedFd>>| {
            Arc::ptr_eq(a.as_ref().unwrap(), b.as_ref().unwrap())
        };
        assert!(is_shared(&first.program, &second.program));
        assert!(is_shared(&first.folder, &other.folder));
        assert!(!is_shared(&first.program, &other.program));
    }
}
