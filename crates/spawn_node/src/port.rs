//! The engine's port as a JavaScript class: one per environment, closed with it.

use std::ffi::c_void;
use std::os::fd::IntoRawFd;
use std::time::Duration;

use napi::bindgen_prelude::{Buffer, Function, JsValue};
use napi::{Env, Error, Result};
use napi_derive::napi;
use node_loop::{Callback, EnvironmentData, Handle, data_of, discard, register_teardown};
use spawn_engine::wire::spawned;
use spawn_engine::{Event, Port as EnginePort, Spawned};

use crate::delivery::deliver;
use crate::request::request;

/// The error number of calls after the environment has ended.
const CLOSED: i32 = libc::EPERM;

/// State of the loop's callbacks. Lives from the constructor to the teardown of the environment.
struct Shared {
    callback: Callback,
    /// Wakes JavaScript from the engine's threads; while referenced, it keeps the loop alive.
    handle: Option<Handle>,
    /// Counts the event loop's looks at its descriptors.
    counter: Option<Handle>,
    port: Option<EnginePort>,
}

impl EnvironmentData for Shared {
    fn release_handles(&mut self) -> Vec<Handle> {
        // Once the port is dropped, no other thread uses the handle.
        drop(self.port.take());
        let handles = [self.handle.take(), self.counter.take()];
        handles.into_iter().flatten().collect()
    }

    fn destroy(&mut self) {
        // SAFETY: the environment's thread; without a port nothing calls it.
        unsafe { self.callback.delete() };
    }
}

/// Starts processes and reports on them through one callback, `onEvent(kind, id, a, b, bytes)`: see `EVENT` in `wire.ts`. One per
/// environment. `stream` is an index in the child's stdio.
#[napi]
pub struct Port {
    shared: *mut Shared,
}

/// The remainder of a stream that is handed over.
#[napi(object)]
pub struct Taken {
    /// The descriptor, -1 when the stream has ended.
    pub fd: i32,
    /// Bytes read but not delivered yet.
    pub bytes: Buffer,
}

/// The collected part of a stream.
#[napi(object)]
pub struct Uncollected {
    /// True if the stream has ended.
    pub ended: bool,
    /// The bytes so far.
    pub bytes: Buffer,
}

/// Returns 0 if the engine runs here, otherwise the error number that gives the reason.
#[napi]
#[cfg_attr(test, allow(dead_code))]
pub fn supported() -> i32 {
    spawn_engine::supported().err().unwrap_or(0)
}

/// Returns true if a read of the descriptor would not block: bytes are available, or it is at its end.
#[napi]
#[cfg_attr(test, allow(dead_code))]
pub fn is_readable(fd: i32) -> bool {
    spawn_engine::is_readable(fd)
}

/// Shuts down both directions of a socket: its remaining bytes can be read, and then it is at its end, even if other processes
/// hold the far end.
#[napi]
#[cfg_attr(test, allow(dead_code))]
pub fn hang_up(fd: i32) {
    spawn_engine::hang_up(fd);
}

/// Starts reaping orphans if this process adopts them, and returns whether it does. A negative number is an error.
#[napi]
#[cfg_attr(test, allow(dead_code))]
pub fn reap_orphans() -> i32 {
    spawn_engine::reap_orphans().map_or_else(|error| -error, i32::from)
}

#[napi]
impl Port {
    /// Opens the environment's port.
    #[napi(
        constructor,
        ts_args_type = "onEvent: (kind: number, id: number, a: number, b: number, bytes?: Buffer) => void"
    )]
    pub fn new(env: Env, on_event: Function<'_, (), ()>) -> Result<Self> {
        let env = env.raw();
        // SAFETY: a live function value of the current environment.
        let callback = unsafe { Callback::new(env, on_event.raw()) };
        let shared = Box::into_raw(Box::new(Shared {
            callback,
            handle: None,
            counter: None,
            port: None,
        }));
        // SAFETY: this is the environment's thread, and `shared` is ours alone until the environment ends or the handle's
        // callback runs, later, on this thread. It lives until the handles are closed, including those of a start that fails.
        unsafe {
            if let Err(error) = open(env, shared) {
                discard(shared);
                return Err(Error::from_reason(format!("errno {error}")));
            }
            register_teardown(env, shared);
        }
        Ok(Self { shared })
    }

    fn port(&self) -> Option<&EnginePort> {
        // SAFETY: freed only after the environment's cleanup, when JavaScript can no longer call this.
        unsafe { (*self.shared).port.as_ref() }
    }

    /// Queues a process and returns its id, a negative error number, or both for a process that has failed already but has an id,
    /// pipes and a "failed" event: see `SPAWNED`. Strings in `args` and `env` are separated by NULs; `env` defaults to this
    /// process's own. `stdio` has a descriptor or one of `STDIO` per entry, and `extras` bits of `EXTRA`.
    #[napi]
    #[allow(clippy::too_many_arguments)]
    pub fn spawn(
        &self,
        file: String,
        args: String,
        env: Option<String>,
        cwd: Option<String>,
        detached: bool,
        uid: Option<i32>,
        gid: Option<i32>,
        stdio: Vec<i32>,
        collect_limit: f64,
        extras: u32,
    ) -> f64 {
        let Some(port) = self.port() else {
            return -f64::from(CLOSED);
        };
        let request = request(
            file,
            args,
            env,
            cwd,
            detached,
            uid,
            gid,
            stdio,
            collect_limit,
            extras,
        );
        match port.spawn(request) {
            Ok(Spawned { id, failure: None }) => id as f64,
            Ok(Spawned {
                id,
                failure: Some(error),
            }) => -(id as f64 * f64::from(spawned::ID_UNIT) + f64::from(error)),
            Err(error) => -f64::from(error),
        }
    }

    /// Returns true if the program runs already; otherwise requests the "started" event.
    #[napi]
    pub fn announce(&self, id: f64) -> bool {
        self.port().is_some_and(|port| port.announce(id as u64))
    }

    /// Blocks until the program runs and returns its process id, or a negative error number.
    #[napi]
    pub fn wait_started(&self, id: f64) -> i32 {
        self.port().map_or(-CLOSED, |port| {
            port.wait_started(id as u64).unwrap_or_else(|error| -error)
        })
    }

    /// Returns true if the process has ended, reported or not.
    #[napi]
    pub fn has_ended(&self, id: f64) -> bool {
        self.port().is_some_and(|port| port.has_ended(id as u64))
    }

    /// Signals the process. Returns 0, or a negative error number.
    #[napi]
    pub fn kill(&self, id: f64, signal: i32) -> i32 {
        self.port()
            .and_then(|port| port.kill(id as u64, signal).err())
            .map_or(0, |error| -error)
    }

    /// Signals a process and its descendants, and kills those that have not ended after `grace_ms`; "tree ended" follows. Returns
    /// 0, or a negative error number: ESRCH if nothing is found, as for a process that has ended and was not started as a tree.
    #[napi]
    pub fn end_tree(&self, id: f64, started_as_tree: bool, signal: i32, grace_ms: f64) -> i32 {
        let grace = Duration::from_secs_f64(grace_ms / 1e3);
        self.port()
            .and_then(|port| {
                port.end_tree(id as u64, started_as_tree, signal, grace)
                    .err()
            })
            .map_or(0, |error| -error)
    }

    /// Starts reading a stream, with a window of 256 KiB.
    #[napi]
    pub fn flow(&self, id: f64, stream: u16) {
        if let Some(port) = self.port() {
            port.flow(id as u64, stream);
        }
    }

    /// The number of times the event loop has looked at its descriptors. A look is counted before it happens.
    #[napi]
    pub fn looks(&self) -> f64 {
        self.port().map_or(0.0, |port| port.looks() as f64)
    }

    /// Returns true if the engine knew the end of the process when the event loop last began to look at its descriptors: all data
    /// that the process left in them has been seen in this turn, or is about to be.
    #[napi]
    pub fn ended_before_look(&self, id: f64) -> bool {
        self.port()
            .is_none_or(|port| port.ended_before_look(id as u64))
    }

    /// Stops collecting a stream. With `isUnseen`, the bytes so far arrive as a "data" event: the loop has not looked for them.
    #[napi]
    pub fn uncollect(&self, id: f64, stream: u16, is_unseen: bool) -> Uncollected {
        let (bytes, ended) = self.port().map_or((Vec::new(), true), |port| {
            port.uncollect(id as u64, stream, is_unseen)
        });
        Uncollected {
            ended,
            bytes: bytes.into(),
        }
    }

    /// Hands over a stream's descriptor.
    #[napi]
    pub fn take(&self, id: f64, stream: u16) -> Taken {
        let (fd, bytes) = self.port().map_or((None, Vec::new()), |port| {
            let taken = port.take(id as u64, stream);
            (taken.fd, taken.bytes)
        });
        Taken {
            fd: fd.map_or(-1, IntoRawFd::into_raw_fd),
            bytes: bytes.into(),
        }
    }

    /// Returns true if a stream ended without a byte, and nothing has been read from it.
    #[napi]
    pub fn is_at_end(&self, id: f64, stream: u16) -> bool {
        self.port()
            .is_some_and(|port| port.is_at_end(id as u64, stream))
    }

    /// Returns true if a stream that nothing has been read from ended without a byte, and the event loop has looked at its descriptors
    /// since: Node, which reads every output, has seen the end.
    #[napi]
    pub fn is_end_seen(&self, id: f64, stream: u16) -> bool {
        self.port()
            .is_some_and(|port| port.is_end_seen(id as u64, stream))
    }

    /// Returns true if no process holds the child's end of a stream any longer, even if bytes remain to be read.
    #[napi]
    pub fn has_hung_up(&self, id: f64, stream: u16) -> bool {
        self.port()
            .is_none_or(|port| port.has_hung_up(id as u64, stream))
    }

    /// Closes a stream.
    #[napi]
    pub fn close_stream(&self, id: f64, stream: u16) {
        if let Some(port) = self.port() {
            port.close_stream(id as u64, stream);
        }
    }

    /// After the exit: closes stdin and drains the untouched streams. Returns the number of bytes discarded for each entry of stdio,
    /// or -1 for a stream that has not ended.
    #[napi]
    pub fn drain(&self, id: f64) -> Vec<f64> {
        let bytes = self.port().map_or(Vec::new(), |port| port.drain(id as u64));
        bytes
            .into_iter()
            .map(|bytes| bytes.map_or(-1.0, |bytes| bytes as f64))
            .collect()
    }

    /// Keeps what comes out of a drained stream from now on. Returns the number of bytes discarded before.
    #[napi]
    pub fn stop_draining(&self, id: f64, stream: u16) -> f64 {
        self.port()
            .map_or(0.0, |port| port.stop_draining(id as u64, stream) as f64)
    }

    /// Blocks until every process requested here has started or failed.
    #[napi]
    pub fn flush(&self) {
        if let Some(port) = self.port() {
            port.flush();
        }
    }

    /// Does the same for the processes requested anywhere in this process, which is about to end.
    #[napi]
    pub fn flush_all(&self) {
        if let Some(port) = self.port() {
            port.flush_all();
        }
    }

    /// Sets whether the port keeps the event loop alive.
    #[napi]
    pub fn set_referenced(&self, referenced: bool) {
        // SAFETY: as in `port`.
        if let Some(handle) = unsafe { &mut (*self.shared).handle } {
            handle.set_referenced(referenced);
        }
    }
}

/// Opens the handles and the port of `shared`. On an error, it holds those already opened.
///
/// # Safety
/// On the thread of `env`; `shared` lives until its handles are closed.
unsafe fn open(env: napi::sys::napi_env, shared: *mut Shared) -> std::result::Result<(), i32> {
    // SAFETY: forwarded.
    unsafe {
        let handle = Handle::open_async(env, shared, on_wake).ok_or(libc::ENOMEM)?;
        let waker = handle.waker();
        (*shared).handle = Some(handle);
        (*shared).counter = Handle::open_prepare(env, shared, on_look);
        (*shared).port = Some(EnginePort::open(move || waker.wake())?);
    }
    Ok(())
}

unsafe extern "C" fn on_look(handle: *mut c_void) {
    // SAFETY: as in `on_wake`.
    let shared: *mut Shared = unsafe { data_of(handle) };
    // SAFETY: as in `on_wake`; no JavaScript runs here.
    if let Some(port) = unsafe { &(*shared).port } {
        port.look();
    }
}

unsafe extern "C" fn on_wake(handle: *mut c_void) {
    // SAFETY: the handle's data is the `Shared` that opened it; it is freed after the handle is closed.
    unsafe {
        let shared: *mut Shared = data_of(handle);
        // Events arriving meanwhile wait for the next turn of the loop: timers and sockets get theirs in between.
        let waiting = (*shared).port.as_ref().map_or(0, EnginePort::waiting);
        for _ in 0..waiting {
            // A callback may have ended the environment, and the port with it, or taken the waiting events.
            let Some(event) = (*shared).port.as_ref().and_then(EnginePort::next_event) else {
                return;
            };
            let ended = match event {
                Event::Exited { id, .. } | Event::Failed { id, .. } | Event::Lost { id, .. } => {
                    Some(id)
                }
                _ => None,
            };
            deliver((*shared).callback, event);
            if let (Some(id), Some(port)) = (ended, &(*shared).port) {
                port.acknowledge(id);
            }
        }
    }
}
