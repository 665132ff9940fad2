//! Requests that look as if they cannot be started.
//!
//! Node throws most errors of a spawn from the call itself and emits a few on the next tick. Ours come later by nature, so a call
//! waits for the outcome of a doubtful request, and of no other.

use crate::request::Request;
use crate::sys::Errno;

/// Linux refuses one string of 128 KiB, or a quarter of the stack limit in all.
const MAX_SURE_ARGUMENTS: usize = 96 * 1024;
const MAX_NAME: usize = 255;

/// Returns true if Node throws this error instead of emitting it.
pub(crate) fn is_thrown(error: Errno) -> bool {
    !matches!(
        error,
        libc::EACCES | libc::EAGAIN | libc::EMFILE | libc::ENFILE | libc::ENOENT
    )
}

/// Returns true if the call must wait for the outcome, independent of the file system.
pub(crate) fn may_fail(request: &Request) -> bool {
    request.uid.is_some()
        || request.gid.is_some()
        || request.args.len() + request.env.block().len() > MAX_SURE_ARGUMENTS
        || request.file.len() > MAX_NAME
}
