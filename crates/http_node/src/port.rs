//! The engine as a JavaScript class: one per environment, closed with it.

use std::os::fd::IntoRawFd;
use std::sync::{Arc, Mutex, MutexGuard};

use http_engine::wire::outcome;
use http_engine::{Engine, ListenOptions};
use napi::bindgen_prelude::{Function, JsValue, Object, Unknown};
use napi::{Env, Error, Result, sys};
use napi_derive::napi;
use node_loop::{Callback, discard, settle};

use crate::fill::{JsFill, latin1};
use crate::io_thread::IoThread;
use crate::lock::lock;
use crate::lone::Lone;
use crate::loop_handles::{LoopHandles, Source};
use crate::memory::HeldMemory;
use crate::sender::Sender;
use crate::shapes::{
    JsAddress, JsDetached, JsFileRange, JsListenOptions, JsProxyHeader, JsSettings, bind_of,
    proxies_of,
};
use crate::shared::Shared;
use crate::turn::{on_prepare, on_ready, on_wake};

/// How much of a part of a file has left, or nothing while it is under way.
struct Over(Option<u64>);

impl Default for Over {
    fn default() -> Self {
        Self(Some(0))
    }
}

/// An HTTP/1.1 engine in this environment's loop.
#[napi]
pub struct Port {
    shared: *mut Shared,
}

#[napi]
impl Port {
    /// Opens the environment's engine. `memory` has the arrays of `docs/design/http.md`; `onBatch` gets from
    /// where to where words of `records` are to be read, and says how far it has read. With `threaded` the engine has a thread of its own.
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
                return Err(failed(error));
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
            lone: Lone::default(),
            memory: Some(held),
            referenced_servers: 0,
        }));
        let source = if threaded {
            Source::Thread(on_wake)
        } else {
            Source::Descriptor(descriptor, on_ready)
        };
        // SAFETY: this is the environment's thread, and `shared` is ours alone until the hook or a handle runs, later, on this
        // thread. It lives until the handles are closed, those of a start that fails included.
        unsafe {
            if let Err(error) = open(shared, source) {
                discard(shared);
                return Err(failed(error));
            }
            settle(env, shared);
        }
        Ok(Self { shared })
    }

    fn engine(&self) -> Option<MutexGuard<'_, Engine>> {
        // SAFETY: freed only after the environment's cleanup, when no JavaScript can call this any more. The engine calls
        // no JavaScript, so a call into it ends, and lets go of the lock, before the next begins.
        unsafe { (*self.shared).engine.as_ref().map(|engine| lock(engine)) }
    }

    pub(crate) fn with<T: Default>(&self, act: impl FnOnce(&mut Engine) -> T) -> T {
        let Some(mut engine) = self.engine() else {
            return T::default();
        };
        let result = act(&mut engine);
        if engine.has_late_news() {
            // The effects of the call are reported in a turn of their own.
            engine.ring();
        }
        let is_held = engine.holds_loop();
        drop(engine);
        // At once: libuv looks whether the loop is alive before anything else of the engine runs. SAFETY: as in `engine`.
        unsafe { (*self.shared).set_held(is_held) };
        result
    }

    /// The server's number, or a negative error number. With `proxies` it serves their connections alone.
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
            Ok(number) => trust(&mut engine, number, proxies),
            Err(error) => -error,
        }
    }

    /// Makes a server whose connections are handed to `adopt`: its number, or a negative error number.
    #[napi]
    pub fn serve(&self, settings: JsSettings, proxies: Option<Vec<String>>) -> i32 {
        let Some(mut engine) = self.engine() else {
            return -libc::EINVAL;
        };
        let number = engine.serve(settings.into());
        trust(&mut engine, number, proxies)
    }

    /// Changes a server's settings.
    #[napi]
    pub fn configure(&self, server: u32, settings: JsSettings) {
        self.with(|engine| engine.configure(server, settings.into()));
    }

    /// Where a server listens.
    #[napi]
    pub fn address(&self, server: u32) -> Option<JsAddress> {
        self.with(|engine| engine.server_address(server).map(Into::into))
    }

    /// Stops listening.
    #[napi]
    pub fn stop(&self, server: u32) {
        self.with(|engine| engine.stop(server));
    }

    /// Closes connections between two requests, and `with_unused` those that have sent nothing.
    #[napi]
    pub fn close_idle(&self, server: u32, with_unused: bool) {
        self.with(|engine| engine.close_idle(server, with_unused));
    }

    /// Closes all connections.
    #[napi]
    pub fn close_all(&self, server: u32) {
        self.with(|engine| engine.close_all(server));
    }

    /// Lets a server answer by itself, out of a store of so many bytes; with `isShared` out of the one that the process has for
    /// its address.
    #[napi]
    pub fn open_answers(&self, server: u32, max_bytes: f64, is_shared: bool) {
        self.with(|engine| engine.open_answers(server, max_bytes as usize, is_shared));
    }

    /// Leaves everything to JavaScript again.
    #[napi]
    pub fn close_answers(&self, server: u32) {
        self.with(|engine| engine.close_answers(server));
    }

    /// The time of the last drop: to be taken before what an answer is made of is read.
    #[napi]
    pub fn ticket(&self) -> f64 {
        http_engine::ticket() as f64
    }

    /// Keeps an answer, and says what became of it.
    #[napi]
    pub fn keep(&self, server: u32, fill: JsFill) -> u32 {
        let fill = fill.into();
        // Zero would say that it is kept.
        let Some(mut engine) = self.engine() else {
            return outcome::NOT_SERVED;
        };
        engine.keep(server, fill)
    }

    /// Counts an answer that was not worth the crossing.
    #[napi]
    pub fn count_outcome(&self, server: u32, outcome: u32) {
        self.with(|engine| engine.count_outcome(server, outcome));
    }

    /// Drops the answers to a target.
    #[napi]
    pub fn drop_target(&self, server: u32, target: String) {
        self.with(|engine| engine.drop_target(server, &latin1(&target)));
    }

    /// Drops the answers with one of the tags.
    #[napi]
    pub fn drop_tags(&self, server: u32, tags: Vec<String>) {
        self.with(|engine| engine.drop_tags(server, tags.iter().map(String::as_str)));
    }

    /// Drops all answers.
    #[napi]
    pub fn clear_answers(&self, server: u32) {
        self.with(|engine| engine.clear_answers(server));
    }

    /// What became of answers and requests; empty when the server answers nothing by itself.
    #[napi]
    pub fn answer_counts(&self, server: u32) -> Vec<f64> {
        let counts = self.with(|engine| engine.answer_counts(server));
        counts.into_iter().map(|count| count as f64).collect()
    }

    /// Connections of a server.
    #[napi]
    pub fn connection_count(&self, server: u32) -> u32 {
        self.with(|engine| engine.connections_of(server))
    }

    /// How many servers keep the loop alive.
    #[napi]
    pub fn set_referenced_servers(&self, count: u32) {
        // SAFETY: as in `engine`.
        let shared = unsafe { &mut *self.shared };
        shared.referenced_servers = count;
        shared.update_reference();
    }

    /// Serves a connection accepted elsewhere, on a copy of its descriptor, which stays the caller's. Returns false when no
    /// descriptor is left, or it is not one of a connection.
    #[napi]
    pub fn adopt(&self, server: u32, fd: i32) -> bool {
        let Ok(copy) = http_engine::copy_connection(fd) else {
            return false;
        };
        self.with(|engine| engine.adopt(server, copy));
        true
    }

    /// Sends what was written to the shared memory.
    #[napi]
    pub fn flush(&self) {
        self.with(Engine::flush);
    }

    /// Something was written while nobody checked for it.
    #[napi]
    pub fn watch(&self) {
        // SAFETY: as in `engine`.
        let shared = unsafe { &mut *self.shared };
        match (&shared.sender, &shared.engine) {
            (Some(sender), _) => sender.wake(),
            // Without a thread, everything leaves when JavaScript is done.
            (None, Some(engine)) => shared.sender = Sender::start(engine).ok(),
            _ => {}
        }
    }

    /// Writes at once: how many bytes the kernel has not taken, -1 when the connection is gone.
    #[napi]
    pub fn write(&self, slot: u32, generation: u32, sequence: u32, flags: u32, data: &[u8]) -> f64 {
        let unsent = self.with(|engine| engine.write(slot, generation, sequence, flags, data));
        unsent.map_or(-1.0, |unsent| unsent as f64)
    }

    /// Sends a part of a file: how many bytes have left when it is over at once, nothing while it is under way.
    #[napi]
    pub fn send_file(
        &self,
        slot: u32,
        generation: u32,
        sequence: u32,
        range: JsFileRange,
    ) -> Option<f64> {
        // Without an engine it is over, and nothing has left.
        let range = range.into();
        let moved = self.with(|engine| Over(engine.send_file(slot, generation, sequence, range)));
        moved.0.map(|moved| moved as f64)
    }

    /// Ends the part of a file that is under way, if any: how many bytes of the last one have left.
    #[napi]
    pub fn end_file(&self, slot: u32, generation: u32) -> f64 {
        self.with(|engine| engine.end_file(slot, generation)) as f64
    }

    /// Closes at once, and says how many bytes the kernel has not taken.
    #[napi]
    pub fn close(&self, slot: u32, generation: u32, reset: bool) -> f64 {
        self.with(|engine| engine.close(slot, generation, reset)) as f64
    }

    /// Stops reporting the body.
    #[napi]
    pub fn pause(&self, slot: u32, generation: u32) {
        self.with(|engine| engine.pause(slot, generation));
    }

    /// Goes on reporting the body.
    #[napi]
    pub fn resume(&self, slot: u32, generation: u32) {
        self.with(|engine| engine.resume(slot, generation));
    }

    /// Whether a connection keeps the loop alive while it is read.
    #[napi]
    pub fn set_referenced(&self, slot: u32, generation: u32, is_referenced: bool) {
        self.with(|engine| engine.set_referenced(slot, generation, is_referenced));
    }

    /// Discards the rest of the body.
    #[napi]
    pub fn discard_body(&self, slot: u32, generation: u32) {
        self.with(|engine| engine.discard_body(slot, generation));
    }

    /// Reports the client's end to the owner before the connection is closed for it.
    #[napi]
    pub fn announce_end(&self, slot: u32, generation: u32) {
        self.with(|engine| engine.announce_end(slot, generation));
    }

    /// Gives a connection away.
    #[napi]
    pub fn detach(&self, slot: u32, generation: u32) -> Option<JsDetached> {
        let detached = self.with(|engine| engine.detach(slot, generation))?;
        Some(JsDetached {
            fd: detached.fd.into_raw_fd(),
            head: detached.unread.into(),
        })
    }

    /// Inactivity timeout of a connection.
    #[napi]
    pub fn set_timeout(&self, slot: u32, generation: u32, timeout_ms: u32) {
        self.with(|engine| engine.set_timeout(slot, generation, timeout_ms));
    }

    /// TCP_NODELAY of a connection.
    #[napi]
    pub fn set_no_delay(&self, slot: u32, generation: u32, on: bool) {
        self.with(|engine| engine.set_no_delay(slot, generation, on));
    }

    /// SO_KEEPALIVE of a connection.
    #[napi]
    pub fn set_keep_alive(&self, slot: u32, generation: u32, on: bool, seconds: u32) {
        self.with(|engine| engine.set_keep_alive(slot, generation, on, seconds));
    }

    /// The far end.
    #[napi]
    pub fn remote(&self, slot: u32, generation: u32) -> Option<JsAddress> {
        self.with(|engine| engine.remote(slot, generation).map(Into::into))
    }

    /// The near end.
    #[napi]
    pub fn local(&self, slot: u32, generation: u32) -> Option<JsAddress> {
        self.with(|engine| engine.local(slot, generation).map(Into::into))
    }

    /// What the proxy of a connection has said.
    #[napi]
    pub fn proxy_header(&self, slot: u32, generation: u32) -> Option<JsProxyHeader> {
        self.with(|engine| {
            let header = engine.proxy_header(slot, generation)?;
            Some(JsProxyHeader {
                version: header.version.into(),
                has_ends: header.ends.is_some(),
                values: header.values.into_vec().into(),
                peer: engine.peer(slot, generation).map(Into::into),
            })
        })
    }

    /// Bytes read from a connection.
    #[napi]
    pub fn bytes_read(&self, slot: u32, generation: u32) -> f64 {
        self.with(|engine| engine.counts(slot, generation)).0 as f64
    }

    /// Bytes written to a connection.
    #[napi]
    pub fn bytes_written(&self, slot: u32, generation: u32) -> f64 {
        self.with(|engine| engine.counts(slot, generation)).1 as f64
    }

    /// Makes an uncaught exception of `error`, at once.
    #[napi]
    pub fn report(&self, error: Unknown<'_>) {
        // SAFETY: a value of the current scope, on the environment's thread.
        unsafe { sys::napi_fatal_exception((*self.shared).env, error.raw()) };
    }
}

/// Before the engine takes the first connection: the caller has its lock. Gives the server's number.
fn trust(engine: &mut Engine, number: u32, proxies: Option<Vec<String>>) -> i32 {
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

/// Opens the handles of `shared`, and starts the thread that wakes the loop if that is their source. What was opened before an
/// error is in `shared`.
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

/// The error of a start that failed; JavaScript reads the number.
fn failed(error: i32) -> Error {
    Error::from_reason(format!("errno {error}"))
}
