//! The engine's place in libuv's loop: one handle that wakes the loop and, referenced, keeps it alive, and one
//! `uv_prepare_t`, which runs just before the loop would sleep. The first is a `uv_poll_t` on the engine's descriptor, or,
//! when the engine has a thread, a `uv_async_t` that the thread sends.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::{c_int, c_void};

use napi::sys;

// Of `uv_handle_type`, stable since libuv 1.0.
const UV_ASYNC: c_int = 1;
const UV_POLL: c_int = 8;
const UV_PREPARE: c_int = 9;
const UV_READABLE: c_int = 1;

pub(crate) type Callback = unsafe extern "C" fn(*mut c_void);
pub(crate) type PollCallback = unsafe extern "C" fn(*mut c_void, c_int, c_int);

unsafe extern "C" {
    fn uv_handle_size(kind: c_int) -> usize;
    fn uv_poll_init(uv_loop: *mut sys::uv_loop_s, handle: *mut c_void, fd: c_int) -> c_int;
    fn uv_poll_start(handle: *mut c_void, events: c_int, callback: PollCallback) -> c_int;
    fn uv_async_init(
        uv_loop: *mut sys::uv_loop_s,
        handle: *mut c_void,
        callback: Callback,
    ) -> c_int;
    fn uv_async_send(handle: *mut c_void) -> c_int;
    fn uv_prepare_init(uv_loop: *mut sys::uv_loop_s, handle: *mut c_void) -> c_int;
    fn uv_prepare_start(handle: *mut c_void, callback: Callback) -> c_int;
    fn uv_handle_get_data(handle: *const c_void) -> *mut c_void;
    fn uv_handle_set_data(handle: *mut c_void, data: *mut c_void);
    fn uv_close(handle: *mut c_void, callback: Callback);
    fn uv_ref(handle: *mut c_void);
    fn uv_unref(handle: *mut c_void);
}

/// What wakes the loop.
pub(crate) enum Source {
    /// The engine's descriptor is readable.
    Descriptor(c_int, PollCallback),
    /// The engine's thread says so.
    Thread(Callback),
}

/// Wakes the loop from the engine's thread.
#[derive(Clone, Copy)]
pub(crate) struct Waker(*mut c_void);

// SAFETY: `uv_async_send` is thread-safe; the thread ends before the handle is closed.
unsafe impl Send for Waker {}

impl Waker {
    pub fn wake(self) {
        // SAFETY: the handle is open while the thread runs.
        unsafe { uv_async_send(self.0) };
    }
}

/// Both handles. The loop borrows them: they are freed by [`LoopHandles::close`] and not before.
pub(crate) struct LoopHandles {
    waking: *mut c_void,
    prepare: *mut c_void,
    is_referenced: bool,
}

fn layout(kind: c_int) -> Layout {
    // SAFETY: a pure function of libuv.
    let size = unsafe { uv_handle_size(kind) };
    Layout::from_size_align(size, 16).expect("libuv's handles are small")
}

/// Room for either kind of waking handle.
fn waking_layout() -> Layout {
    let (one, other) = (layout(UV_POLL), layout(UV_ASYNC));
    if one.size() > other.size() {
        one
    } else {
        other
    }
}

impl LoopHandles {
    /// Opens handles that do not keep the loop alive.
    ///
    /// # Safety
    /// `env` is the current environment, and this is its thread. `data` lives until the handles are closed.
    pub unsafe fn open(
        env: sys::napi_env,
        source: Source,
        data: *mut c_void,
        on_prepare: Callback,
    ) -> Option<Self> {
        let mut uv_loop = std::ptr::null_mut();
        // SAFETY: the layouts have a size; the loop is that of `env` and outlives the handles, which the environment's
        // cleanup closes.
        unsafe {
            if sys::napi_get_uv_event_loop(env, &mut uv_loop) != sys::Status::napi_ok {
                return None;
            }
            let waking: *mut c_void = alloc_zeroed(waking_layout()).cast();
            let prepare: *mut c_void = alloc_zeroed(layout(UV_PREPARE)).cast();
            if waking.is_null() || prepare.is_null() {
                return None;
            }
            let opened = match source {
                Source::Descriptor(fd, _) => uv_poll_init(uv_loop, waking, fd),
                Source::Thread(on_wake) => uv_async_init(uv_loop, waking, on_wake),
            };
            if opened != 0 || uv_prepare_init(uv_loop, prepare) != 0 {
                return None;
            }
            uv_handle_set_data(waking, data);
            uv_handle_set_data(prepare, data);
            if let Source::Descriptor(_, on_ready) = source {
                uv_poll_start(waking, UV_READABLE, on_ready);
            }
            uv_prepare_start(prepare, on_prepare);
            uv_unref(waking);
            uv_unref(prepare);
            Some(Self {
                waking,
                prepare,
                is_referenced: false,
            })
        }
    }

    /// For the thread that sends it. Only with [`Source::Thread`].
    pub fn waker(&self) -> Waker {
        Waker(self.waking)
    }

    pub fn set_referenced(&mut self, referenced: bool) {
        if self.is_referenced == referenced {
            return;
        }
        self.is_referenced = referenced;
        // SAFETY: called on the loop's thread, on an open handle.
        unsafe {
            if referenced {
                uv_ref(self.waking);
            } else {
                uv_unref(self.waking);
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

    /// Closes the handles. `data` is handed to [`crate::shared::on_closed`] when libuv is done with both.
    pub fn close(self) {
        // SAFETY: called once, on the loop's thread. libuv runs the callbacks in the reverse order of the calls.
        unsafe {
            uv_close(self.waking, free_waking);
            uv_close(self.prepare, free_prepare);
        }
    }
}

unsafe extern "C" fn free_waking(handle: *mut c_void) {
    // SAFETY: libuv is done with the handle, which was allocated with this layout; its data is still there.
    unsafe {
        let data = uv_handle_get_data(handle);
        dealloc(handle.cast(), waking_layout());
        crate::shared::on_closed(data);
    }
}

unsafe extern "C" fn free_prepare(handle: *mut c_void) {
    // SAFETY: as above.
    unsafe { dealloc(handle.cast(), layout(UV_PREPARE)) };
}
