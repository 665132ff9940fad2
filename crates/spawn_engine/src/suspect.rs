//! Requests that look as if they cannot be started.
//!
//! Node throws most errors of a spawn from the call itself and emits a few later. Ours come later by nature, so a request
//! with a reason to doubt it is waited for; every other one is not.

use std::ffi::CStr;

use crate::command::Request;
use crate::sys::{self, Errno};

/// Linux refuses one string of 128 KiB, or a quarter of the stack limit in all.
const LARGE: usize = 96 * 1024;
const LONGEST_NAME: usize = 255;

/// Whether Node throws this error instead of emitting it.
pub(crate) fn is_loud(error: Errno) -> bool {
    !matches!(
        error,
        libc::EACCES | libc::EAGAIN | libc::EMFILE | libc::ENFILE | libc::ENOENT
    )
}

/// Whether to wait for the outcome.
pub(crate) fn may_fail_loudly(request: &Request) -> bool {
    request.uid.is_some()
        || request.gid.is_some()
        || request.args.len() + request.env.block().len() > LARGE
        || request.file.len() > LONGEST_NAME
        || request.cwd.as_deref().is_some_and(is_no_folder)
        || has_loud_path(request)
}

fn is_no_folder(cwd: &[u8]) -> bool {
    match kind_of(cwd) {
        Ok(kind) => kind != libc::S_IFDIR,
        Err(error) => is_loud(error),
    }
}

fn has_loud_path(request: &Request) -> bool {
    if !request.file.contains(&b'/') {
        return false;
    }
    match &request.cwd {
        Some(cwd) if !request.file.starts_with(b"/") => {
            let folder = cwd.strip_suffix(b"\0").unwrap_or(cwd);
            kind_of(&[folder, b"/", &request.file].concat()).is_err_and(is_loud)
        }
        _ => kind_of(&request.file).is_err_and(is_loud),
    }
}

fn kind_of(path: &[u8]) -> Result<libc::mode_t, Errno> {
    let path = CStr::from_bytes_until_nul(path).map_err(|_| libc::EINVAL)?;
    sys::file_kind(path)
}
