//! The engine as a JavaScript class: one per environment, closed with it.

use std::sync::{Arc, Mutex, MutexGuard};

use http_engine::{Engine, ListenOptions};
use napi::bindgen_prelude::{Function, JsValue, Object, Unknown};
use napi::{Env, Error, Result, sys};
use napi_derive::napi;
use node_loop::{Callback, HeldArray, discard, register_teardown};
use telemetry_ring::Writer;

use crate::busy_poll::BusyPoll;
use crate::io_thread::IoThread;
use crate::js_types::{JsAddress, JsListenOptions, JsSettings, bind_of, proxies_of};
use crate::lock::lock;
use crate::loop_handles::{LoopHandles, Source};
use crate::memory::HeldMemory;
use crate::sender::Sender;
use crate::shared::Shared;
use crate::turn::{on_prepare, on_ready, on_wake};

/// An HTTP/1.1 engine in this environment's loop.
#[napi]
pub struct Port {
    shared: *mut Shared,
}

#[napi]
impl Port {
    /// Opens the environment's engine. `memory` has the arrays of `docs/design/http.md`; `onBatch` receives the start and end of
    /// the words of `records` to read, and returns the position it has read to. With `threaded` the engine has a thread of its
    /// own.
    #[napi(
        constructor,
        ts_args_type = "memory: { records: Uint32Array; input: Uint8Array; commands: Uint32Array; output: Uint8Array; pending: Uint32Array }, threaded: boolean, onBatch: (from: number, words: number) => number"
    )]
    pub fn new(
        env: Env,
        memory: Object<'_>,
        threaded: bool,
        on_batch: Function<'_, (u32, u32), u32>,
    ) -> Result<Self> {
        let env = env.raw();
        // SAFETY: `env` is the current environment.
        let (held, memory) = unsafe { HeldMemory::take(env, &memory)? };
        // SAFETY: the references are deleted after the engine is dropped.
        let engine = match unsafe { Engine::new(memory) } {
            Ok(engine) => engine,
            Err(error) => {
                // SAFETY: this is the environment's thread, and no engine uses the memory.
                unsafe { held.release(env) };
                return Err(start_error(error));
            }
        };
        let descriptor = engine.descriptor();
        // SAFETY: a live function value of the current environment.
        let callback = unsafe { Callback::new(env, on_batch.raw()) };
        let shared = Box::into_raw(Box::new(Shared {
            env,
            callback,
            handles: None,
            engine: Some(Arc::new(Mutex::new(engine))),
            thread: None,
            sender: None,
            part: None,
            busy_poll: BusyPoll::default(),
            memory: Some(held),
            ring: None,
            referenced_servers: 0,
        }));
        let source = if threaded {
            Source::Thread(on_wake)
        } else {
            Source::Descriptor(descriptor, on_ready)
        };
        // SAFETY: this is the environment's thread, and `shared` is ours alone until the hook or a handle runs, later, on this
        // thread. It lives until the handles are closed, including those of a start that fails.
        unsafe {
            if let Err(error) = open(shared, source) {
                discard(shared);
                return Err(start_error(error));
            }
            register_teardown(env, shared);
        }
        Ok(Self { shared })
    }

    pub(crate) fn engine(&self) -> Option<MutexGuard<'_, Engine>> {
        // SAFETY: freed only after the environment's cleanup, when JavaScript can no longer call this. The engine calls no
        // JavaScript, so a call into it ends, and releases the lock, before the next begins.
        unsafe { (*self.shared).engine.as_ref().map(|engine| lock(engine)) }
    }

    pub(crate) fn with<T: Default>(&self, act: impl FnOnce(&mut Engine) -> T) -> T {
        let Some(mut engine) = self.engine() else {
            return T::default();
        };
        let result = act(&mut engine);
        if engine.has_unreported() {
            // The effects of the call are reported in a turn of their own.
            engine.request_turn();
        }
        let is_held = engine.holds_loop();
        drop(engine);
        // Updated at once: libuv checks that the loop is alive before anything else of the engine runs. SAFETY: as in `engine`.
        unsafe { (*self.shared).set_held(is_held) };
        result
    }

    /// Starts a server and returns its number, or a negative error number. With `proxies` it serves only connections from them.
    #[napi]
    pub fn listen(
        &self,
        options: JsListenOptions,
        settings: JsSettings,
        proxies: Option<Vec<String>>,
    ) -> i32 {
        let Some(bind) = bind_of(&options) else {
            return -libc::EINVAL;
        };
        let defaults = ListenOptions::default();
        let how = ListenOptions {
            backlog: options.backlog.unwrap_or(defaults.backlog),
            ipv6_only: options.ipv6_only.unwrap_or(false),
            reuse_port: options.reuse_port.unwrap_or(false),
            readable_all: options.readable_all.unwrap_or(false),
            writable_all: options.writable_all.unwrap_or(false),
        };
        let Some(mut engine) = self.engine() else {
            return -libc::EINVAL;
        };
        match engine.listen(&bind, how, settings.into()) {
            Ok(number) => set_proxies(&mut engine, number, proxies),
            Err(error) => -error,
        }
    }

    /// Creates a server whose connections are passed to `adopt`. Returns its number, or a negative error number.
    #[napi]
    pub fn serve(&self, settings: JsSettings, proxies: Option<Vec<String>>) -> i32 {
        let Some(mut engine) = self.engine() else {
            return -libc::EINVAL;
        };
        let number = engine.serve(settings.into());
        set_proxies(&mut engine, number, proxies)
    }

    /// Changes a server's settings.
    #[napi]
    pub fn configure(&self, server: u32, settings: JsSettings) {
        self.with(|engine| engine.configure(server, settings.into()));
    }

    /// The address a server listens on.
    #[napi]
    pub fn address(&self, server: u32) -> Option<JsAddress> {
        self.with(|engine| engine.server_address(server).map(Into::into))
    }

    /// Stops listening.
    #[napi]
    pub fn stop(&self, server: u32) {
        self.with(|engine| engine.stop(server));
    }

    /// Closes connections between two requests, and with `with_unused` also those that have sent nothing.
    #[napi]
    pub fn close_idle(&self, server: u32, with_unused: bool) {
        self.with(|engine| engine.close_idle(server, with_unused));
    }

    /// Closes all connections.
    #[napi]
    pub fn close_all(&self, server: u32) {
        self.with(|engine| engine.close_all(server));
    }

    /// The number of connections of a server.
    #[napi]
    pub fn connection_count(&self, server: u32) -> u32 {
        self.with(|engine| engine.connections_of(server))
    }

    /// Sets the number of servers that keep the loop alive.
    #[napi]
    pub fn set_referenced_servers(&self, count: u32) {
        // SAFETY: as in `engine`.
        let shared = unsafe { &mut *self.shared };
        shared.referenced_servers = count;
        shared.update_reference();
    }

    /// Serves a connection accepted elsewhere, on a copy of its descriptor, which remains the caller's. Returns false if no
    /// descriptor is left, or if it is not one of a connection.
    #[napi]
    pub fn adopt(&self, server: u32, fd: i32) -> bool {
        let Ok(copy) = http_engine::copy_connection(fd) else {
            return false;
        };
        self.with(|engine| engine.adopt(server, copy));
        true
    }

    /// Sends the contents of the shared output memory.
    #[napi]
    pub fn flush(&self) {
        self.with(Engine::flush);
    }

    /// Writes the facts of exchanges to a telemetry ring from now on; `null` ends it. A ring of another layout, which another
    /// release has made, is not written.
    #[napi(ts_args_type = "ring: Uint32Array | null")]
    pub fn observe(&self, env: Env, ring: Option<Object<'_>>) -> Result<()> {
        let env = env.raw();
        // SAFETY: `env` is the current environment.
        let taken = ring
            .as_ref()
            .map(|ring| unsafe { HeldArray::take(env, ring.raw()) });
        let mut held = None;
        let mut writer = None;
        if let Some(taken) = taken {
            let (array, first, length) =
                taken.ok_or_else(|| Error::from_reason("`ring` must be a Uint32Array"))?;
            held = Some(array);
            // SAFETY: the memory is held below until the engine is dropped or has another ring, and only this engine writes it.
            writer = unsafe { Writer::new(first, length) };
        }
        if let Some(mut engine) = self.engine() {
            engine.observe(writer);
        }
        // SAFETY: as in `engine`.
        let before = unsafe { std::mem::replace(&mut (*self.shared).ring, held) };
        if let Some(before) = before {
            // SAFETY: this is the environment's thread, and the engine does not use the memory.
            unsafe { before.release(env) };
        }
        Ok(())
    }

    /// Starts or wakes the sender thread after a write outside a batch.
    #[napi]
    pub fn watch(&self) {
        // SAFETY: as in `engine`.
        let shared = unsafe { &mut *self.shared };
        match (&shared.sender, &shared.engine) {
            (Some(sender), _) => sender.wake(),
            // Without a thread, everything is sent when JavaScript is done.
            (None, Some(engine)) => shared.sender = Sender::start(engine).ok(),
            _ => {}
        }
    }

    /// Raises `error` as an uncaught exception, at once.
    #[napi]
    pub fn report(&self, error: Unknown<'_>) {
        // SAFETY: a value of the current scope, on the environment's thread.
        unsafe { sys::napi_fatal_exception((*self.shared).env, error.raw()) };
    }
}

/// Sets the proxies of a server before the engine takes the first connection: the caller holds its lock. Returns the server's
/// number.
fn set_proxies(engine: &mut Engine, number: u32, proxies: Option<Vec<String>>) -> i32 {
    match proxies.map(|names| proxies_of(&names)) {
        None => number as i32,
        Some(Some(proxies)) => {
            engine.trust_proxies(number, proxies);
            number as i32
        }
        Some(None) => {
            engine.stop(number);
            -libc::EINVAL
        }
    }
}

/// Opens the handles of `shared`, and starts the thread that wakes the loop if that is their source. On an error, `shared` holds
/// those already opened.
///
/// # Safety
/// On the environment's thread; `shared` lives until its handles are closed.
unsafe fn open(shared: *mut Shared, source: Source) -> std::result::Result<(), i32> {
    let is_threaded = matches!(source, Source::Thread(_));
    // SAFETY: forwarded.
    unsafe {
        let handles = LoopHandles::open((*shared).env, source, shared, on_prepare);
        (*shared).handles = handles;
        let Some(handles) = &(*shared).handles else {
            return Err(libc::ENOMEM);
        };
        if is_threaded && let Some(engine) = &(*shared).engine {
            let waker = handles.waker();
            let thread = IoThread::start(engine, move || waker.wake())
                .map_err(|error| error.raw_os_error().unwrap_or(libc::EAGAIN))?;
            (*shared).thread = Some(thread);
        }
    }
    Ok(())
}

/// Converts the error of a failed start; JavaScript parses the number.
fn start_error(error: i32) -> Error {
    Error::from_reason(format!("errno {error}"))
}
