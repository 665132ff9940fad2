//! The engine as a JavaScript class: one per environment, closed with it.

use std::ffi::c_void;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http_engine::{
    Address, Bind, Engine, KNOWN_NAMES, ListenOptions, METHODS, ServerSettings, SettingFlags,
};
use napi::bindgen_prelude::{Buffer, Function, JsValue, Object, Unknown};
use napi::{Env, Error, Result, sys};
use napi_derive::napi;

use crate::io_thread::IoThread;
use crate::loop_handles::{LoopHandles, Source};
use crate::memory::HeldMemory;
use crate::turn::{on_prepare, on_ready, on_wake};

/// What the loop's callbacks need. Lives from the constructor to the end of the environment.
pub(crate) struct Shared {
    pub env: sys::napi_env,
    pub callback: sys::napi_ref,
    hook: sys::napi_async_cleanup_hook_handle,
    handles: Option<LoopHandles>,
    pub engine: Option<Arc<Mutex<Engine>>>,
    thread: Option<IoThread>,
    memory: Option<HeldMemory>,
    /// Servers that keep the loop alive by themselves.
    referenced_servers: u32,
}

impl Shared {
    /// Connections keep the loop alive, as sockets do, and so do servers that were not unreferenced.
    pub fn update_reference(&mut self) {
        let busy = self
            .engine
            .as_ref()
            .is_some_and(|engine| lock(engine).connection_count() > 0);
        let referenced = busy || self.referenced_servers > 0;
        if let Some(handles) = &mut self.handles {
            handles.set_referenced(referenced);
        }
    }

    /// Whether the engine has a thread of its own.
    pub fn has_thread(&self) -> bool {
        self.thread.is_some()
    }
}

/// Locks, whatever happened to a thread that held the lock before.
pub(crate) fn lock(engine: &Mutex<Engine>) -> MutexGuard<'_, Engine> {
    engine.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An HTTP/1.1 engine in this environment's loop.
#[napi]
pub struct Port {
    shared: *mut Shared,
}

/// What the two sides have to agree on.
#[napi(object)]
pub struct Tables {
    /// By the index that crosses.
    pub methods: Vec<String>,
    /// By the number that crosses, minus 1.
    pub names: Vec<String>,
    /// Codes of client errors by number.
    pub codes: Vec<String>,
    /// Their reasons.
    pub reasons: Vec<String>,
}

/// Where a socket is.
#[napi(object)]
pub struct JsAddress {
    /// An IP address, or the path of a Unix socket.
    pub address: String,
    /// `IPv4`, `IPv6`, or empty for a Unix socket.
    pub family: String,
    /// 0 for a Unix socket.
    pub port: u32,
}

/// A connection that is given away.
#[napi(object)]
pub struct JsDetached {
    /// Its descriptor.
    pub fd: i32,
    /// What was read behind the head.
    pub head: Buffer,
}

/// Times in milliseconds, 0 is off.
#[napi(object)]
pub struct JsSettings {
    /// For a head to come in.
    pub headers_timeout: u32,
    /// For a request to come in.
    pub request_timeout: u32,
    /// Between two requests.
    pub keep_alive_timeout: u32,
    /// What kept answers say in `Keep-Alive`.
    pub keep_alive_shown: Option<u32>,
    /// Without activity.
    pub socket_timeout: u32,
    /// Bytes.
    pub max_header_size: u32,
    /// 0 no limit, -1 drop all.
    pub max_connections: i32,
    /// TCP_NODELAY.
    pub no_delay: bool,
    /// SO_KEEPALIVE.
    pub keep_alive: bool,
    /// Its delay.
    pub keep_alive_initial_delay: u32,
    /// Answer clients that have ended their side.
    pub allow_half_open: bool,
    /// Tell of connections when they come.
    pub announce_connections: bool,
}

/// How to listen. One of `host`, `path` and `fd`.
#[napi(object)]
pub struct JsListenOptions {
    /// An IP address.
    pub host: Option<String>,
    /// With `host`.
    pub port: Option<u32>,
    /// Of a Unix socket.
    pub path: Option<String>,
    /// A bound socket; it stays the caller's.
    pub fd: Option<i32>,
    /// Connections that may wait.
    pub backlog: Option<i32>,
    /// No IPv4 on an IPv6 socket.
    pub ipv6_only: Option<bool>,
    /// SO_REUSEPORT.
    pub reuse_port: Option<bool>,
    /// Rights of a Unix socket.
    pub readable_all: Option<bool>,
    /// Rights of a Unix socket.
    pub writable_all: Option<bool>,
}

/// The tables of the engine.
#[napi]
#[cfg_attr(test, allow(dead_code))]
pub fn tables() -> Tables {
    let strings = |list: &[&str]| list.iter().map(ToString::to_string).collect();
    let problems = http_engine::problem::PROBLEMS;
    Tables {
        methods: strings(&METHODS),
        names: strings(&KNOWN_NAMES),
        codes: problems
            .iter()
            .map(|(code, _)| (*code).to_owned())
            .collect(),
        reasons: problems
            .iter()
            .map(|(_, reason)| (*reason).to_owned())
            .collect(),
    }
}

impl From<JsSettings> for ServerSettings {
    fn from(settings: JsSettings) -> Self {
        Self {
            headers_timeout: settings.headers_timeout,
            request_timeout: settings.request_timeout,
            keep_alive_timeout: settings.keep_alive_timeout,
            keep_alive_shown: settings.keep_alive_shown.unwrap_or(0),
            socket_timeout: settings.socket_timeout,
            max_header_size: settings.max_header_size,
            max_connections: settings.max_connections,
            keep_alive_initial_delay: settings.keep_alive_initial_delay,
            flags: SettingFlags {
                no_delay: settings.no_delay,
                keep_alive: settings.keep_alive,
                allow_half_open: settings.allow_half_open,
                announce: settings.announce_connections,
            },
        }
    }
}

impl From<Address> for JsAddress {
    fn from(address: Address) -> Self {
        match address {
            Address::Ip(ip) => Self {
                address: ip.ip().to_string(),
                family: if ip.is_ipv4() { "IPv4" } else { "IPv6" }.to_owned(),
                port: ip.port().into(),
            },
            Address::Unix(path) => Self {
                address: String::from_utf8_lossy(path.as_os_str().as_bytes()).into_owned(),
                family: String::new(),
                port: 0,
            },
        }
    }
}

fn bind_of(options: &JsListenOptions) -> Option<Bind> {
    if let Some(fd) = options.fd {
        return Some(Bind::Fd(fd));
    }
    if let Some(path) = &options.path {
        return Some(Bind::Unix(path.into()));
    }
    let host = options.host.as_deref()?;
    let port = u16::try_from(options.port.unwrap_or(0)).ok()?;
    // A zone (`fe80::1%eth0`) is a number to the kernel.
    let address = match host.parse::<IpAddr>() {
        Ok(ip) => SocketAddr::new(ip, port),
        Err(_) => format!("[{host}]:{port}").parse().ok()?,
    };
    Some(Bind::Ip(address))
}

#[napi]
impl Port {
    /// Opens the environment's engine. `memory` has the arrays of `docs/design/http.md`; `onBatch` gets the number of
    /// words that were written to `records`. With `threaded` the engine has a thread of its own.
    #[napi(
        constructor,
        ts_args_type = "memory: Memory, threaded: boolean, onBatch: (words: number) => void"
    )]
    pub fn new(
        env: Env,
        memory: Object<'_>,
        threaded: bool,
        on_batch: Function<'_, u32, ()>,
    ) -> Result<Self> {
        let env = env.raw();
        // SAFETY: `env` is the current environment.
        let (held, memory) = unsafe { HeldMemory::take(env, &memory)? };
        // SAFETY: the references are deleted after the engine is dropped.
        let engine = unsafe { Engine::new(memory) }
            .map_err(|error| Error::from_reason(format!("errno {error}")))?;
        let descriptor = engine.descriptor();
        let mut callback = ptr::null_mut();
        // SAFETY: a live function value of the current environment.
        unsafe { sys::napi_create_reference(env, on_batch.raw(), 1, &mut callback) };
        let shared = Box::into_raw(Box::new(Shared {
            env,
            callback,
            hook: ptr::null_mut(),
            handles: None,
            engine: Some(Arc::new(Mutex::new(engine))),
            thread: None,
            memory: Some(held),
            referenced_servers: 0,
        }));
        let source = if threaded {
            Source::Thread(on_wake)
        } else {
            Source::Descriptor(descriptor, on_ready)
        };
        // SAFETY: this is the environment's thread, and `shared` lives until the handles are closed.
        let handles = unsafe { LoopHandles::open(env, source, shared.cast(), on_prepare) }
            .ok_or_else(|| Error::from_reason("no event loop"))?;
        // SAFETY: `shared` is ours alone until the hook or a handle runs, later, on this thread.
        unsafe {
            if threaded && let Some(engine) = &(*shared).engine {
                let thread = IoThread::start(engine, handles.waker());
                (*shared).thread =
                    Some(thread.map_err(|error| Error::from_reason(error.to_string()))?);
            }
            (*shared).handles = Some(handles);
            sys::napi_add_async_cleanup_hook(
                env,
                Some(on_cleanup),
                shared.cast(),
                &mut (*shared).hook,
            );
        }
        Ok(Self { shared })
    }

    fn engine(&self) -> Option<MutexGuard<'_, Engine>> {
        // SAFETY: freed only after the environment's cleanup, when no JavaScript can call this any more. The engine calls
        // no JavaScript, so a call into it ends, and lets go of the lock, before the next begins.
        unsafe { (*self.shared).engine.as_ref().map(|engine| lock(engine)) }
    }

    fn with<T: Default>(&self, act: impl FnOnce(&mut Engine) -> T) -> T {
        let Some(mut engine) = self.engine() else {
            return T::default();
        };
        let result = act(&mut engine);
        if engine.has_late_news() {
            // What the call brought about is told in a turn of its own.
            engine.ring();
        }
        result
    }

    /// The server's number, or a negative error number.
    #[napi]
    pub fn listen(&self, options: JsListenOptions, settings: JsSettings) -> i32 {
        let Some(bind) = bind_of(&options) else {
            return -22;
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
            return -22;
        };
        match engine.listen(&bind, how, settings.into()) {
            Ok(number) => number as i32,
            Err(error) => -error,
        }
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

    /// Closes connections between two requests.
    #[napi]
    pub fn close_idle(&self, server: u32) {
        self.with(|engine| engine.close_idle(server));
    }

    /// Closes all connections.
    #[napi]
    pub fn close_all(&self, server: u32) {
        self.with(|engine| engine.close_all(server));
    }

    /// Lets the engine answer GET and HEAD of a URL by itself.
    #[napi]
    pub fn keep(&self, server: u32, url: String, head: &[u8], body: &[u8], time_ms: u32) {
        self.with(|engine| engine.keep(server, url.as_bytes(), head, body, time_ms));
    }

    /// Takes that back.
    #[napi]
    pub fn forget(&self, server: u32, url: String) {
        self.with(|engine| engine.forget(server, url.as_bytes()));
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

    /// Serves a connection accepted elsewhere; the descriptor becomes the engine's.
    #[napi]
    pub fn adopt(&self, server: u32, fd: i32) {
        // SAFETY: the caller gives the descriptor away.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        self.with(|engine| engine.adopt(server, fd));
        // SAFETY: as in `engine`.
        unsafe { (*self.shared).update_reference() };
    }

    /// Sends what was written to the shared memory.
    #[napi]
    pub fn flush(&self) {
        self.with(Engine::flush);
    }

    /// Writes at once: how many bytes the kernel has not taken, -1 when the connection is gone.
    #[napi]
    pub fn write(&self, slot: u32, generation: u32, sequence: u32, flags: u32, data: &[u8]) -> f64 {
        let unsent = self.with(|engine| engine.write(slot, generation, sequence, flags, data));
        unsent.map_or(-1.0, |unsent| unsent as f64)
    }

    /// Closes at once.
    #[napi]
    pub fn close(&self, slot: u32, generation: u32, reset: bool) {
        self.with(|engine| engine.close(slot, generation, reset));
    }

    /// No more of the body for now.
    #[napi]
    pub fn pause(&self, slot: u32, generation: u32) {
        self.with(|engine| engine.pause(slot, generation));
    }

    /// More of the body.
    #[napi]
    pub fn resume(&self, slot: u32, generation: u32) {
        self.with(|engine| engine.resume(slot, generation));
    }

    /// Nothing of the rest of the body.
    #[napi]
    pub fn discard_body(&self, slot: u32, generation: u32) {
        self.with(|engine| engine.discard_body(slot, generation));
    }

    /// Gives a connection away.
    #[napi]
    pub fn detach(&self, slot: u32, generation: u32) -> Option<JsDetached> {
        let detached = self.with(|engine| engine.detach(slot, generation))?;
        // SAFETY: as in `engine`.
        unsafe { (*self.shared).update_reference() };
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

unsafe extern "C" fn on_cleanup(_hook: sys::napi_async_cleanup_hook_handle, shared: *mut c_void) {
    let shared: *mut Shared = shared.cast();
    // SAFETY: runs once, on the environment's thread, while `shared` is alive. The engine goes before the memory that it
    // writes to, and libuv lets go of the engine's descriptor before it is closed.
    unsafe {
        if let Some(thread) = (*shared).thread.take() {
            thread.stop();
        }
        if let Some(handles) = (*shared).handles.take() {
            handles.close();
        }
        if let Some(engine) = (*shared).engine.take() {
            lock(&engine).flush();
        }
        if let Some(memory) = (*shared).memory.take() {
            memory.release((*shared).env);
        }
        sys::napi_delete_reference((*shared).env, (*shared).callback);
    }
}

/// libuv is done with the handles.
///
/// # Safety
/// Called once, with the `Shared` they were opened with.
pub(crate) unsafe fn on_closed(shared: *mut c_void) {
    // SAFETY: `shared` stays allocated (some bytes per environment) when JavaScript's wrapper outlives it, because that
    // wrapper still points at it.
    unsafe { sys::napi_remove_async_cleanup_hook((*shared.cast::<Shared>()).hook) };
}
