//! One `uv_async_t`: the engine's threads wake JavaScript through it, and referencing it keeps the loop alive.
//!
//! Node-API's threadsafe function would run a whole batch in one callback scope; here every event gets its own, so
//! that promises and ticks run between two events as they do between two of Node's own.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::{c_int, c_void};

use napi::sys;

/// `UV_ASYNC` of `uv_handle_type`, stable since libuv 1.0.
const UV_ASYNC: c_int = 1;

unsafe extern "C" {
    fn uv_handle_size(kind: c_int) -> usize;
    fn uv_async_init(
        uv_loop: *mut sys::uv_loop_s,
        handle: *mut c_void,
        callback: unsafe extern "C" fn(*mut c_void),
    ) -> c_int;
    fn uv_async_send(handle: *mut c_void) -> c_int;
    fn uv_handle_get_data(handle: *const c_void) -> *mut c_void;
    fn uv_handle_set_data(handle: *mut c_void, data: *mut c_void);
    fn uv_close(handle: *mut c_void, callback: unsafe extern "C" fn(*mut c_void));
    fn uv_ref(handle: *mut c_void);
    fn uv_unref(handle: *mut c_void);
}

/// Borrowed from the loop: freed by [`AsyncHandle::close`] and not before.
#[derive(Clone, Copy)]
pub(crate) struct AsyncHandle(*mut c_void);

// SAFETY: `uv_async_send`, the only call made from other threads, is thread-safe; the engine does not call it after its
// port is closed, which happens before `close`.
unsafe impl Send for AsyncHandle {}
// SAFETY: as above.
unsafe impl Sync for AsyncHandle {}

fn layout() -> Layout {
    // SAFETY: a pure function of libuv.
    let size = unsafe { uv_handle_size(UV_ASYNC) };
    Layout::from_size_align(size, 16).expect("libuv's handles are small")
}

impl AsyncHandle {
    /// Opens a handle that does not keep the loop alive. `callback` gets the handle, see [`AsyncHandle::data`].
    ///
    /// # Safety
    /// `env` is the current environment, and this is its thread.
    pub unsafe fn open(
        env: sys::napi_env,
        data: *mut c_void,
        callback: unsafe extern "C" fn(*mut c_void),
    ) -> Option<Self> {
        let mut uv_loop = std::ptr::null_mut();
        // SAFETY: the layout has a size; the loop is that of `env` and outlives the handle, which the environment's
        // cleanup closes.
        unsafe {
            if sys::napi_get_uv_event_loop(env, &mut uv_loop) != sys::Status::napi_ok {
                return None;
            }
            let handle: *mut c_void = alloc_zeroed(layout()).cast();
            if handle.is_null() || uv_async_init(uv_loop, handle, callback) != 0 {
                return None;
            }
            uv_handle_set_data(handle, data);
            uv_unref(handle);
            Some(Self(handle))
        }
    }

    /// From any thread.
    pub fn send(self) {
        // SAFETY: the handle is open: its port, the only caller, is closed first.
        unsafe { uv_async_send(self.0) };
    }

    pub fn set_referenced(self, referenced: bool) {
        // SAFETY: called on the loop's thread, on an open handle.
        unsafe {
            if referenced {
                uv_ref(self.0);
            } else {
                uv_unref(self.0);
            }
        }
    }

    /// The `data` a raw handle was opened with.
    ///
    /// # Safety
    /// `handle` is what libuv gave to the callback of such a handle.
    pub unsafe fn data<T>(handle: *mut c_void) -> *mut T {
        // SAFETY: forwarded.
        unsafe { uv_handle_get_data(handle).cast() }
    }

    /// Closes the handle; libuv calls `closed` with it, which must end in [`AsyncHandle::free`].
    pub fn close(self, closed: unsafe extern "C" fn(*mut c_void)) {
        // SAFETY: called once, on the loop's thread.
        unsafe { uv_close(self.0, closed) };
    }

    /// # Safety
    /// `handle` was closed, and libuv has said so.
    pub unsafe fn free(handle: *mut c_void) {
        // SAFETY: allocated with this layout in `open`.
        unsafe { dealloc(handle.cast(), layout()) };
    }
}
