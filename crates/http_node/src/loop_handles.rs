//! The engine's place in libuv's loop: one `uv_poll_t` on the engine's descriptor, which wakes the loop and, referenced,
//! keeps it alive, and one `uv_prepare_t`, which runs just before the loop would sleep.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::{c_int, c_void};

use napi::sys;

// Of `uv_handle_type`, stable since libuv 1.0.
const UV_POLL: c_int = 8;
const UV_PREPARE: c_int = 9;
const UV_READABLE: c_int = 1;

pub(crate) type Callback = unsafe extern "C" fn(*mut c_void);
type PollCallback = unsafe extern "C" fn(*mut c_void, c_int, c_int);

unsafe extern "C" {
    fn uv_handle_size(kind: c_int) -> usize;
    fn uv_poll_init(uv_loop: *mut sys::uv_loop_s, handle: *mut c_void, fd: c_int) -> c_int;
    fn uv_poll_start(handle: *mut c_void, events: c_int, callback: PollCallback) -> c_int;
    fn uv_prepare_init(uv_loop: *mut sys::uv_loop_s, handle: *mut c_void) -> c_int;
    fn uv_prepare_start(handle: *mut c_void, callback: Callback) -> c_int;
    fn uv_handle_get_data(handle: *const c_void) -> *mut c_void;
    fn uv_handle_set_data(handle: *mut c_void, data: *mut c_void);
    fn uv_close(handle: *mut c_void, callback: Callback);
    fn uv_ref(handle: *mut c_void);
    fn uv_unref(handle: *mut c_void);
}

/// Both handles. The loop borrows them: they are freed by [`LoopHandles::close`] and not before.
pub(crate) struct LoopHandles {
    poll: *mut c_void,
    prepare: *mut c_void,
    is_referenced: bool,
}

fn layout(kind: c_int) -> Layout {
    // SAFETY: a pure function of libuv.
    let size = unsafe { uv_handle_size(kind) };
    Layout::from_size_align(size, 16).expect("libuv's handles are small")
}

impl LoopHandles {
    /// Opens handles that do not keep the loop alive.
    ///
    /// # Safety
    /// `env` is the current environment, and this is its thread. `data` lives until the handles are closed.
    pub unsafe fn open(
        env: sys::napi_env,
        descriptor: c_int,
        data: *mut c_void,
        on_ready: PollCallback,
        on_prepare: Callback,
    ) -> Option<Self> {
        let mut uv_loop = std::ptr::null_mut();
        // SAFETY: the layouts have a size; the loop is that of `env` and outlives the handles, which the environment's
        // cleanup closes.
        unsafe {
            if sys::napi_get_uv_event_loop(env, &mut uv_loop) != sys::Status::napi_ok {
                return None;
            }
            let poll: *mut c_void = alloc_zeroed(layout(UV_POLL)).cast();
            let prepare: *mut c_void = alloc_zeroed(layout(UV_PREPARE)).cast();
            if poll.is_null()
                || prepare.is_null()
                || uv_poll_init(uv_loop, poll, descriptor) != 0
                || uv_prepare_init(uv_loop, prepare) != 0
            {
                return None;
            }
            uv_handle_set_data(poll, data);
            uv_handle_set_data(prepare, data);
            uv_poll_start(poll, UV_READABLE, on_ready);
            uv_prepare_start(prepare, on_prepare);
            uv_unref(poll);
            uv_unref(prepare);
            Some(Self {
                poll,
                prepare,
                is_referenced: false,
            })
        }
    }

    pub fn set_referenced(&mut self, referenced: bool) {
        if self.is_referenced == referenced {
            return;
        }
        self.is_referenced = referenced;
        // SAFETY: called on the loop's thread, on an open handle.
        unsafe {
            if referenced {
                uv_ref(self.poll);
            } else {
                uv_unref(self.poll);
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

    /// Closes the handles. `data` is handed to [`crate::port::on_closed`] when libuv is done with both.
    pub fn close(self) {
        // SAFETY: called once, on the loop's thread. libuv runs the callbacks in the reverse order of the calls.
        unsafe {
            uv_close(self.poll, free_poll);
            uv_close(self.prepare, free_prepare);
        }
    }
}

unsafe extern "C" fn free_poll(handle: *mut c_void) {
    // SAFETY: libuv is done with the handle, which was allocated with this layout; its data is still there.
    unsafe {
        let data = uv_handle_get_data(handle);
        dealloc(handle.cast(), layout(UV_POLL));
        crate::port::on_closed(data);
    }
}

unsafe extern "C" fn free_prepare(handle: *mut c_void) {
    // SAFETY: as above.
    unsafe { dealloc(handle.cast(), layout(UV_PREPARE)) };
}
