//! Requests that look as if they cannot be started.
//!
//! Node throws most errors of a spawn from the call itself and emits a few on the next tick. Ours come later by nature, so
//! a request with a reason to doubt it is waited for; every other one is not.

use crate::request::Request;
use crate::sys::Errno;

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

/// Whether to wait for the outcome, whatever the file system says.
pub(crate) fn may_fail(request: &Request) -> bool {
    request.uid.is_some()
        || request.gid.is_some()
        || request.args.len() + request.env.block().len() > LARGE
        || request.file.len() > LONGEST_NAME
}
