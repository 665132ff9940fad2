//! Per-environment state of an addon, and its teardown.

use std::ffi::c_void;
use std::ptr;

use napi::sys;

use crate::handle::{self, Handle};

/// State of an addon that lives from its construction to the teardown of the environment.
pub trait EnvironmentData {
    /// Called when the environment is torn down; returns the handles to close, and the teardown waits until libuv is done with
    /// them. No other thread uses the handles after this call.
    fn release_handles(&mut self) -> Vec<Handle>;

    /// Frees what the callbacks of those handles used: they are not called again.
    fn destroy(&mut self);
}

/// The handles of an environment being torn down that libuv still uses.
struct Closing {
    hook: sys::napi_async_cleanup_hook_handle,
    left: usize,
}

/// Registers `data` for the teardown of `env`, which is reported to it once.
///
/// # Safety
/// `env` is the current environment. `data` is never freed, because JavaScript's wrapper may outlive the environment and
/// points at it too: this costs some bytes for each environment. No reference into it is held while JavaScript runs.
pub unsafe fn register_teardown<T: EnvironmentData>(env: sys::napi_env, data: *mut T) {
    // SAFETY: forwarded; the hook's own handle comes with its call.
    unsafe {
        sys::napi_add_async_cleanup_hook(env, Some(on_teardown::<T>), data.cast(), ptr::null_mut());
    }
}

/// Ends data whose construction failed before [`register_teardown`]: nothing else refers to it.
///
/// # Safety
/// On the environment's thread. `data` comes from `Box::into_raw`, and is not used again.
pub unsafe fn discard<T: EnvironmentData>(data: *mut T) {
    // SAFETY: forwarded. The handles are closed as they are dropped, and their callbacks are not called.
    let mut data = unsafe { Box::from_raw(data) };
    drop(data.release_handles());
    data.destroy();
}

unsafe extern "C" fn on_teardown<T: EnvironmentData>(
    hook: sys::napi_async_cleanup_hook_handle,
    data: *mut c_void,
) {
    let data: *mut T = data.cast();
    // SAFETY: runs once, on the environment's thread, with the pointer that `register_teardown` received.
    let handles = unsafe { (*data).release_handles() };
    let left = handles.len();
    let closing = Box::into_raw(Box::new(Closing { hook, left }));
    for handle in handles {
        // SAFETY: this is the loop's thread; the last of the callbacks, which come later, frees `closing`.
        unsafe { handle.close(closing, on_closed) };
    }
    // SAFETY: as above; without handles nothing else refers to `closing`, and this is the hook that has run.
    unsafe {
        (*data).destroy();
        if left == 0 {
            drop(Box::from_raw(closing));
            sys::napi_remove_async_cleanup_hook(hook);
        }
    }
}

unsafe extern "C" fn on_closed(handle: *mut c_void) {
    // SAFETY: libuv is done with the handle, whose data is the `Closing` of its environment.
    unsafe {
        let closing: *mut Closing = handle::data_of(handle);
        handle::free(handle);
        (*closing).left -= 1;
        if (*closing).left == 0 {
            let closing = Box::from_raw(closing);
            sys::napi_remove_async_cleanup_hook(closing.hook);
        }
    }
}
