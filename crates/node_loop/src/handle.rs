//! Handles of libuv's loop.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::{c_int, c_void};
use std::mem::ManuallyDrop;

use napi::sys;

// Values of `uv_handle_type`, stable since libuv 1.0.
const UV_ASYNC: c_int = 1;
const UV_POLL: c_int = 8;
const UV_PREPARE: c_int = 9;
const UV_READABLE: c_int = 1;

/// Callback that libuv calls with a handle. [`data_of`] returns the data the handle was opened with.
pub type OnHandle = unsafe extern "C" fn(*mut c_void);
/// Like [`OnHandle`], with the status and the events of a poll.
pub type OnPoll = unsafe extern "C" fn(*mut c_void, c_int, c_int);

unsafe extern "C" {
    fn uv_handle_size(kind: c_int) -> usize;
    fn uv_handle_get_type(handle: *const c_void) -> c_int;
    fn uv_handle_get_data(handle: *const c_void) -> *mut c_void;
    fn uv_handle_set_data(handle: *mut c_void, data: *mut c_void);
    fn uv_async_init(
        uv_loop: *mut sys::uv_loop_s,
        handle: *mut c_void,
        callback: OnHandle,
    ) -> c_int;
    fn uv_async_send(handle: *mut c_void) -> c_int;
    fn uv_poll_init(uv_loop: *mut sys::uv_loop_s, handle: *mut c_void, fd: c_int) -> c_int;
    fn uv_poll_start(handle: *mut c_void, events: c_int, callback: OnPoll) -> c_int;
    fn uv_prepare_init(uv_loop: *mut sys::uv_loop_s, handle: *mut c_void) -> c_int;
    fn uv_prepare_start(handle: *mut c_void, callback: OnHandle) -> c_int;
    fn uv_close(handle: *mut c_void, callback: OnHandle);
    fn uv_ref(handle: *mut c_void);
    fn uv_unref(handle: *mut c_void);
}

/// A handle in an environment's loop. Dropping it closes it: the loop borrows its memory, which is freed once libuv is done with
/// it. The teardown of the environment waits for the handles that [`crate::EnvironmentData`] returns.
pub struct Handle {
    raw: *mut c_void,
    is_referenced: bool,
}

/// Wakes the loop from any thread.
#[derive(Clone, Copy)]
pub struct Waker(*mut c_void);

// SAFETY: `uv_async_send`, its only call, is thread-safe; every holder is done with it before the handle is closed.
unsafe impl Send for Waker {}
// SAFETY: as above.
unsafe impl Sync for Waker {}

impl Waker {
    /// Schedules the handle's callback, once for any number of wakes.
    pub fn wake(self) {
        // SAFETY: the handle is open: see `Handle::waker`.
        unsafe { uv_async_send(self.0) };
    }
}

/// Returns the data that a handle passed by libuv was opened with.
///
/// # Safety
/// `handle` is the one that libuv passed to the callback of a [`Handle`], and it was opened with a `T`.
#[must_use]
pub unsafe fn data_of<T>(handle: *mut c_void) -> *mut T {
    // SAFETY: forwarded.
    unsafe { uv_handle_get_data(handle).cast() }
}

fn layout(kind: c_int) -> Layout {
    // SAFETY: a pure function of libuv.
    let size = unsafe { uv_handle_size(kind) };
    Layout::from_size_align(size, 16).expect("libuv's handles are small")
}

/// No handle keeps the loop alive until it is referenced.
impl Handle {
    /// Opens a `uv_async_t`: `callback` runs after a [`Waker`] was used.
    ///
    /// # Safety
    /// `env` is the current environment, and this is its thread. `data` lives until the handle is closed.
    pub unsafe fn open_async<T>(
        env: sys::napi_env,
        data: *mut T,
        callback: OnHandle,
    ) -> Option<Self> {
        // SAFETY: forwarded; `open` passes a handle of that kind and its loop.
        unsafe {
            let init = |uv_loop, handle| uv_async_init(uv_loop, handle, callback);
            Self::open(env, UV_ASYNC, data, init, |_| 0)
        }
    }

    /// Opens a `uv_poll_t`: `callback` runs while `fd` is readable.
    ///
    /// # Safety
    /// As [`Handle::open_async`]; `fd` is open until the handle is closed.
    pub unsafe fn open_poll<T>(
        env: sys::napi_env,
        fd: c_int,
        data: *mut T,
        callback: OnPoll,
    ) -> Option<Self> {
        // SAFETY: forwarded; as above.
        unsafe {
            let init = |uv_loop, handle| uv_poll_init(uv_loop, handle, fd);
            let start = |handle| uv_poll_start(handle, UV_READABLE, callback);
            Self::open(env, UV_POLL, data, init, start)
        }
    }

    /// Opens a `uv_prepare_t`: `callback` runs just before the loop would sleep.
    ///
    /// # Safety
    /// As [`Handle::open_async`].
    pub unsafe fn open_prepare<T>(
        env: sys::napi_env,
        data: *mut T,
        callback: OnHandle,
    ) -> Option<Self> {
        // SAFETY: forwarded; as above.
        unsafe {
            let init = |uv_loop, handle| uv_prepare_init(uv_loop, handle);
            let start = |handle| uv_prepare_start(handle, callback);
            Self::open(env, UV_PREPARE, data, init, start)
        }
    }

    /// # Safety
    /// As [`Handle::open_async`]; `init` turns zeroed memory into a handle of that kind, which stays unknown to the loop if `init`
    /// fails.
    unsafe fn open<T>(
        env: sys::napi_env,
        kind: c_int,
        data: *mut T,
        init: impl FnOnce(*mut sys::uv_loop_s, *mut c_void) -> c_int,
        start: impl FnOnce(*mut c_void) -> c_int,
    ) -> Option<Self> {
        let mut uv_loop = std::ptr::null_mut();
        // SAFETY: the layout has a size; the loop is that of `env` and outlives the handle, which the environment's teardown
        // closes. No callback runs before this function has returned to the loop.
        unsafe {
            if sys::napi_get_uv_event_loop(env, &mut uv_loop) != sys::Status::napi_ok {
                return None;
            }
            let raw: *mut c_void = alloc_zeroed(layout(kind)).cast();
            if raw.is_null() {
                return None;
            }
            if init(uv_loop, raw) != 0 {
                dealloc(raw.cast(), layout(kind));
                return None;
            }
            // Owned by the loop now: dropping the handle closes it.
            let handle = Self {
                raw,
                is_referenced: false,
            };
            if start(raw) != 0 {
                return None;
            }
            uv_handle_set_data(raw, data.cast());
            uv_unref(raw);
            Some(handle)
        }
    }

    /// Returns a waker for other threads, which release it before the handle is closed. Only for [`Handle::open_async`].
    #[must_use]
    pub fn waker(&self) -> Waker {
        Waker(self.raw)
    }

    /// Sets whether the handle keeps the loop alive.
    pub fn set_referenced(&mut self, is_referenced: bool) {
        if self.is_referenced == is_referenced {
            return;
        }
        self.is_referenced = is_referenced;
        // SAFETY: the handle is open, and not `Send`: this is the loop's thread.
        unsafe {
            if is_referenced {
                uv_ref(self.raw);
            } else {
                uv_unref(self.raw);
            }
        }
    }

    /// Closes the handle; libuv calls `closed` with it, which must end in [`free`]. Its data is `data` from now on.
    ///
    /// # Safety
    /// On the loop's thread. `data` lives until `closed` is called.
    pub(crate) unsafe fn close<T>(self, data: *mut T, closed: OnHandle) {
        let raw = ManuallyDrop::new(self).raw;
        // SAFETY: open until now; its own callback is not called again.
        unsafe {
            uv_handle_set_data(raw, data.cast());
            uv_close(raw, closed);
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: open until now, and not `Send`: this is the loop's thread. Its own callback is not called again, and libuv
        // releases a descriptor before this returns.
        unsafe { uv_close(self.raw, on_dropped) };
    }
}

unsafe extern "C" fn on_dropped(handle: *mut c_void) {
    // SAFETY: closed by `drop`, and libuv is done with it.
    unsafe { free(handle) };
}

/// # Safety
/// `handle` was closed, and libuv has reported it closed.
pub(crate) unsafe fn free(handle: *mut c_void) {
    // SAFETY: `Handle::open` allocated it with the layout of its kind.
    unsafe { dealloc(handle.cast(), layout(uv_handle_get_type(handle))) };
}
