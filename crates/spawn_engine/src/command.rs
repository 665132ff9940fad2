//! A request on its way to a spawner thread, and its layout in memory for a child that may not allocate.

use std::ffi::CStr;
use std::os::fd::OwnedFd;
use std::ptr;

use libc::c_char;

use crate::environment::pointers;
use crate::lookup::{Found, join};
use crate::request::{Request, Stdio};
use crate::sys::{self, Errno};

const SHELL: &[u8] = b"/bin/sh\0";

/// Descriptors, indexed by stdio entry.
pub(crate) type StdioFds = Vec<Option<OwnedFd>>;

/// A request with its descriptors opened, on its way to a spawner thread.
pub(crate) struct Command {
    pub request: Request,
    /// The child's ends, by descriptor; `None` is "ignore".
    pub far_ends: StdioFds,
    /// The files found at the call, see [`crate::lookup`].
    pub found: Found,
    /// The name of the child's tree, see [`crate::tree`].
    pub tree: Option<String>,
    /// The nice value of the requesting thread at the call.
    pub nice: i32,
}

/// Opens the descriptors of `stdio`: near ends for us, far ends for the child.
pub(crate) fn open_stdio(stdio: &[Stdio]) -> Result<(StdioFds, StdioFds), Errno> {
    let mut far_ends = Vec::with_capacity(stdio.len().max(3));
    let mut near_ends = Vec::with_capacity(stdio.len());
    for entry in stdio {
        let (near, far) = match *entry {
            Stdio::Ignore => (None, None),
            Stdio::Inherit(fd) => (None, Some(sys::duplicate(fd)?)),
            Stdio::Pipe | Stdio::Collect(_) => {
                let (near, far) = sys::socket_pair()?;
                (Some(near), Some(far))
            }
        };
        near_ends.push(near);
        far_ends.push(far);
    }
    while far_ends.len() < 3 {
        far_ends.push(None);
    }
    Ok((near_ends, far_ends))
}

/// Null-terminated pointer tables into the strings of a [`Request`], which must outlive them.
pub(crate) struct Tables {
    pub argv: Vec<*const c_char>,
    /// `/bin/sh`, a free slot for the script, then `argv[1..]`: for a file that is not a program (ENOEXEC).
    pub shell_argv: Vec<*const c_char>,
    /// The paths to try, in order.
    pub candidates: Vec<*const c_char>,
    /// Backing memory of `candidates`, besides the request.
    _searched: Vec<Vec<u8>>,
}

impl Tables {
    pub fn new(request: &Request) -> Self {
        let argv = pointers(&request.args);
        let mut shell_argv = vec![SHELL.as_ptr().cast(), ptr::null()];
        shell_argv.extend(argv.iter().skip(1));
        if argv.len() == 1 {
            shell_argv.push(ptr::null());
        }
        let searched = if request.file.contains(&b'/') {
            Vec::new()
        } else {
            search(&request.file, request.env.path(), request.cwd.is_none())
        };
        let candidates = if searched.is_empty() {
            vec![request.file.as_ptr().cast()]
        } else {
            searched.iter().map(|path| path.as_ptr().cast()).collect()
        };
        Self {
            argv,
            shell_argv,
            candidates,
            _searched: searched,
        }
    }
}

/// Returns the files a name can mean, starting with the first that exists: checking a file costs a quarter of failing to start
/// it. If none exists, all are tried, to get the right error.
fn search(name: &[u8], path: &[u8], is_our_folder: bool) -> Vec<Vec<u8>> {
    let all = || {
        path.split(|&byte| byte == b':')
            .map(|folder| join(folder, name))
    };
    let found: Vec<_> = all()
        .skip_while(|file| is_absent(file, is_our_folder))
        .collect();
    if found.is_empty() {
        all().collect()
    } else {
        found
    }
}

fn is_absent(file: &[u8], is_our_folder: bool) -> bool {
    (is_our_folder || file.starts_with(b"/"))
        && CStr::from_bytes_until_nul(file)
            .is_ok_and(|file| matches!(sys::file_kind(file), Err(libc::ENOENT)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::Environment;
    use std::sync::Arc;

    fn text(pointer: *const c_char) -> String {
        // SAFETY: the tables under test point at NUL-terminated strings that are still alive.
        unsafe { CStr::from_ptr(pointer) }
            .to_str()
            .unwrap()
            .to_owned()
    }

    fn request(file: &str, args: &str, env: &str) -> Request {
        Request {
            file: file.into(),
            args: args.into(),
            env: Arc::new(Environment::new(env.into())),
            ..Request::default()
        }
    }

    #[test]
    fn tables_end_with_null_and_keep_empty_strings() {
        let request = request("/bin/x\0", "x\0\0last\0", "A=1\0B=\0");
        let tables = Tables::new(&request);
        assert!(tables.argv[3].is_null());
        assert_eq!(text(tables.argv[1]), "");
        assert_eq!(text(tables.argv[2]), "last");
        assert_eq!(text(tables.shell_argv[0]), "/bin/sh");
        assert_eq!(text(tables.shell_argv[3]), "last");
        assert!(tables.shell_argv[4].is_null());
    }

    #[test]
    fn a_name_is_looked_for_in_the_path_of_the_child() {
        let request = request("x\0", "x\0", "HOME=/\0PATH=/a::/b\0");
        let tables = Tables::new(&request);
        let found: Vec<_> = tables.candidates.iter().copied().map(text).collect();
        assert_eq!(found, ["/a/x", "x", "/b/x"]);
    }

    #[test]
    fn of_a_name_the_first_that_exists_is_tried_and_what_follows() {
        let request = request("sh\0", "sh\0", "PATH=/nowhere:/bin:/nowhere-either\0");
        let tables = Tables::new(&request);
        let found: Vec<_> = tables.candidates.iter().copied().map(text).collect();
        assert_eq!(found, ["/bin/sh", "/nowhere-either/sh"]);
    }

    #[test]
    fn without_a_path_the_default_one_is_searched() {
        let request = request("x\0", "x\0", "");
        let tables = Tables::new(&request);
        let found: Vec<_> = tables.candidates.iter().copied().map(text).collect();
        assert_eq!(found, ["/bin/x", "/usr/bin/x"]);
    }

    #[test]
    fn a_command_without_any_argument_still_has_ended_tables() {
        let request = request("/x\0", "", "");
        let tables = Tables::new(&request);
        assert!(tables.argv[0].is_null());
        assert!(tables.shell_argv.last().unwrap().is_null());
    }
}
