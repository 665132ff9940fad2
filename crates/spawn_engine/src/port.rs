//! A caller's handle: one port per JavaScript environment, test or thread.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use crate::child::{Child, PROCESS, ended_pipe};
use crate::command::{Command, StdioFds};
use crate::engine::Engine;
use crate::event::Event;
use crate::inbox::Inbox;
use crate::killer::TreeSignal;
use crate::lookup::Lookup;
use crate::request::{Request, Stdio};
use crate::spawner::Job;
use crate::stream::{Mode, Stream};
use crate::suspect;
use crate::sys::{self, Errno, thread_id};
use crate::tree::{self, Tree};

/// Starts children and receives their events. After it is closed or dropped, its children keep running with their pipes closed,
/// and are still reaped.
pub struct Port {
    engine: &'static Engine,
    inbox: Arc<Inbox>,
    lookup: Lookup,
    thread: i32,
}

/// An accepted child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spawned {
    /// Its id.
    pub id: u64,
    /// The reason it could not be started, if known already; [`Event::Failed`] comes nevertheless.
    pub failure: Option<Errno>,
}

/// A stream handed over by [`Port::take`].
#[derive(Debug)]
pub struct Taken {
    /// The near end; `None` when the stream has ended.
    pub fd: Option<OwnedFd>,
    /// Bytes read but not delivered.
    pub bytes: Vec<u8>,
}

impl Port {
    /// Opens a port for the calling thread. `wake` is called from other threads, at least once after every event.
    ///
    /// # Errors
    /// The same as [`crate::supported`].
    pub fn open(wake: impl Fn() + Send + Sync + 'static) -> Result<Self, Errno> {
        Ok(Self {
            engine: Engine::get()?,
            inbox: Arc::new(Inbox::new(Box::new(wake))),
            lookup: Lookup::default(),
            thread: thread_id(),
        })
    }

    /// Queues a child; the descriptors of `stdio` are copied before it returns, the program and the folder are held open.
    ///
    /// # Errors
    /// A descriptor that does not exist, or no descriptors left. E2BIG for 65,535 or more stdio entries. If the request looks as
    /// if it cannot be started, the call waits for the outcome, and also returns an error that Node would throw.
    pub fn spawn(&self, mut request: Request) -> Result<Spawned, Errno> {
        if request.stdio.len() >= usize::from(PROCESS) {
            return Err(libc::E2BIG);
        }
        let far_ends = copy_inherited(&request.stdio)?;
        let found = self.lookup.find(&request)?;
        let is_doubtful = found.is_doubtful || suspect::may_fail(&request);
        let streams = request.stdio.iter().enumerate().map(stream).collect();
        let id = self.engine.children.next_id();
        let child = Arc::new(Child::new(
            id,
            Arc::clone(&self.inbox),
            streams,
            request.extras,
        ));
        self.inbox.add_child(id);
        let tree = request.mark_tree(id);
        self.engine.children.remember(&child);
        let command = Command {
            request,
            far_ends,
            found,
            tree,
            nice: sys::niceness(self.thread),
        };
        self.engine.spawner.push(
            self.owner(),
            Job {
                command,
                child: Arc::clone(&child),
            },
        );
        let failure = is_doubtful.then(|| self.wait(&child).err()).flatten();
        match failure {
            Some(error) if suspect::is_thrown(error) => {
                self.inbox.remove_failure(id);
                child.abandon(&self.engine.children.epoll);
                self.engine.children.forget_if_over(&child);
                return Err(error);
            }
            Some(_) => child.cut_off(),
            None => {}
        }
        Ok(Spawned { id, failure })
    }

    /// Identifies the owner of our jobs.
    fn owner(&self) -> usize {
        Arc::as_ptr(&self.inbox) as usize
    }

    fn wait(&self, child: &Child) -> Result<i32, Errno> {
        if !child.is_start_finished() {
            self.engine.spawner.prioritize(child.id);
        }
        child.wait_start_finished()
    }

    /// Returns the number of events waiting to be taken. Exits that have arrived are moved to the end of the queue.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.inbox.put_exits_last()
    }

    /// Notes that the caller is about to look at its own descriptors.
    pub fn look(&self) {
        self.inbox.look();
    }

    /// Returns the number of those looks.
    #[must_use]
    pub fn looks(&self) -> u64 {
        self.inbox.looks()
    }

    /// Returns true if the end of a process was known when the caller last began to look.
    #[must_use]
    pub fn ended_before_look(&self, id: u64) -> bool {
        let looks = self.inbox.looks();
        self.engine
            .children
            .find(id)
            .is_none_or(|child| child.ended_before(looks))
    }

    /// Returns the oldest event that does not wait for the start of another child.
    #[must_use]
    pub fn next_event(&self) -> Option<Event> {
        self.inbox.next()
    }

    /// Releases a child whose [`Event::Exited`] or [`Event::Failed`] has been handled.
    pub fn acknowledge(&self, id: u64) {
        self.with(id, Child::acknowledge);
    }

    /// Returns true if the program runs already; otherwise requests [`Event::Started`], which is otherwise not worth a wake-up.
    /// Events of children requested since the last [`Port::look`] then wait for it.
    #[must_use]
    pub fn announce(&self, id: u64) -> bool {
        let is_running = self
            .engine
            .children
            .find(id)
            .is_none_or(|child| child.announce());
        if !is_running {
            self.inbox.expect_start(id);
        }
        is_running
    }

    /// Blocks until the program runs, and returns its process id.
    ///
    /// # Errors
    /// The error of a failed start. ESRCH for a child that is long over.
    pub fn wait_started(&self, id: u64) -> Result<i32, Errno> {
        self.engine
            .children
            .find(id)
            .ok_or(libc::ESRCH)
            .and_then(|child| self.wait(&child))
    }

    /// Returns true if the process has ended, and [`Event::Exited`] has come or is about to.
    #[must_use]
    pub fn has_ended(&self, id: u64) -> bool {
        self.engine
            .children
            .find(id)
            .is_none_or(|child| child.has_ended())
    }

    /// Signals the process, once it runs.
    ///
    /// # Errors
    /// ESRCH for a missing process, EINVAL for an invalid signal, EPERM for another user's process.
    pub fn kill(&self, id: u64, signal: i32) -> Result<(), Errno> {
        self.engine
            .children
            .find(id)
            .ok_or(libc::ESRCH)
            .and_then(|child| {
                let _ = self.wait(&child);
                child.kill(signal)
            })
    }

    /// Signals a child and all its descendants, and kills those that have not ended after `grace`. Then the child's pipes are at
    /// their end, even if other processes hold them, and [`Event::TreeEnded`] comes. It also works for a child that has ended, if
    /// it was `started_as_tree` ([`crate::Extras::tree`]); otherwise descendants are found as long as each has a parent among
    /// them.
    ///
    /// # Errors
    /// ESRCH if nothing is found. The error of a thread that cannot start.
    pub fn end_tree(
        &self,
        id: u64,
        started_as_tree: bool,
        signal: i32,
        grace: Duration,
    ) -> Result<(), Errno> {
        let child = self.engine.children.find(id);
        let has_started = match &child {
            Some(child) => self.wait(child).is_ok(),
            None => started_as_tree,
        };
        if !has_started {
            return Err(libc::ESRCH);
        }
        let root = child.and_then(|child| child.process());
        let name = started_as_tree.then(|| tree::name(id));
        let (children, inbox) = (&self.engine.children, Arc::clone(&self.inbox));
        let on_end = move || {
            if let Some(child) = children.find(id) {
                child.hang_up();
            }
            inbox.push(Event::TreeEnded { id });
            inbox.wake();
        };
        let tree = move || Tree::new(root, name.as_deref());
        self.engine
            .killer
            .end(id, tree, TreeSignal { signal, grace }, on_end)
    }

    /// Starts reading a stream, with a credit of [`crate::FLOW_CREDIT`] bytes.
    pub fn flow(&self, id: u64, stream: u16) {
        self.with(id, |child| child.flow(stream, &self.engine.children.epoll));
    }

    /// Stops collecting a stream. Returns the bytes so far, and true if it has ended. With `is_unseen`, the bytes come as an
    /// event instead.
    #[must_use]
    pub fn uncollect(&self, id: u64, stream: u16, is_unseen: bool) -> (Vec<u8>, bool) {
        self.with(id, |child| {
            child.uncollect(stream, is_unseen, &self.engine.children.epoll)
        })
        // Nothing further can happen to the child, but what has happened may wait to be taken.
        .unwrap_or_else(|| (self.inbox.take_unseen(id, stream).bytes, true))
    }

    /// Hands over a stream.
    #[must_use]
    pub fn take(&self, id: u64, stream: u16) -> Taken {
        let (fd, bytes) = self
            .with(id, |child| child.take(stream, &self.engine.children.epoll))
            .unwrap_or_else(|| self.take_past(id, stream));
        Taken { fd, bytes }
    }

    /// Hands over a stream of a child that is over.
    fn take_past(&self, id: u64, stream: u16) -> (Option<OwnedFd>, Vec<u8>) {
        let unseen = self.inbox.take_unseen(id, stream);
        match stream {
            0 => (None, unseen.bytes),
            _ => ended_pipe(unseen.bytes),
        }
    }

    /// Returns true if a stream ended without a byte, and nothing has been read from it.
    #[must_use]
    pub fn is_at_end(&self, id: u64, stream: u16) -> bool {
        self.engine
            .children
            .find(id)
            .is_some_and(|child| child.is_at_end(stream))
    }

    /// Returns true if a stream, idle or collected, ended without a byte, and the caller has looked since: a loop that reads each stream
    /// has seen its end.
    #[must_use]
    pub fn is_end_seen(&self, id: u64, stream: u16) -> bool {
        let looks = self.inbox.looks();
        self.engine
            .children
            .find(id)
            .is_some_and(|child| child.is_end_seen(stream, looks))
    }

    /// Returns true if no process holds the child's end of a stream any longer, even if bytes remain to be read.
    #[must_use]
    pub fn has_hung_up(&self, id: u64, stream: u16) -> bool {
        self.engine
            .children
            .find(id)
            .is_none_or(|child| child.has_hung_up(stream))
    }

    /// Closes a stream.
    pub fn close_stream(&self, id: u64, stream: u16) {
        self.with(id, |child| child.close(stream, &self.engine.children.epoll));
    }

    /// After the exit: closes stdin and drains untouched streams. Returns the number of bytes discarded for each stream that has
    /// ended, and `None` for those that have not: they send [`Event::Drained`] later.
    #[must_use]
    pub fn drain(&self, id: u64) -> Vec<Option<u64>> {
        self.with(id, |child| child.drain(&self.engine.children.epoll))
            .unwrap_or_default()
    }

    /// Keeps what comes out of a drained stream from now on. Returns the number of bytes discarded before: the [`Event::Drained`]
    /// to come does not count them.
    #[must_use]
    pub fn stop_draining(&self, id: u64, stream: u16) -> u64 {
        let discarded = self.with(id, |child| {
            child.stop_draining(stream, &self.engine.children.epoll)
        });
        discarded.unwrap_or_default() + self.inbox.take_drained(id, stream)
    }

    /// Blocks until every child requested of this port has started or failed.
    pub fn flush(&self) {
        self.engine.spawner.flush(Some(self.owner()));
    }

    /// Does the same for every port of this process.
    pub fn flush_all(&self) {
        self.engine.spawner.flush(None);
        self.engine.killer.flush();
    }

    /// Closes the port; `wake` is not called afterwards.
    pub fn close(&self) {
        self.inbox.close();
        for child in self.engine.children.of(&self.inbox) {
            child.abandon(&self.engine.children.epoll);
            self.engine.children.forget_if_over(&child);
        }
    }

    fn with<T>(&self, id: u64, act: impl FnOnce(&Child) -> T) -> Option<T> {
        let child = self.engine.children.find(id)?;
        let result = act(&child);
        self.engine.children.forget_if_over(&child);
        Some(result)
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        self.close();
    }
}

/// Copies the descriptors a child inherits, three entries at least. Its pipes are created later.
fn copy_inherited(stdio: &[Stdio]) -> Result<StdioFds, Errno> {
    let mut far_ends = stdio
        .iter()
        .map(|entry| match *entry {
            Stdio::Inherit(fd) => sys::duplicate(fd).map(Some),
            _ => Ok(None),
        })
        .collect::<Result<Vec<_>, _>>()?;
    far_ends.resize_with(far_ends.len().max(3), || None);
    Ok(far_ends)
}

fn stream((index, stdio): (usize, &Stdio)) -> Stream {
    let is_output = index == 1 || index == 2;
    match *stdio {
        Stdio::Pipe => Stream::new(true, is_output, Mode::Idle),
        Stdio::Collect(limit) => Stream::new(
            true,
            is_output,
            Mode::Collect {
                bytes: Vec::new(),
                limit,
            },
        ),
        Stdio::Ignore | Stdio::Inherit(_) => Stream::new(false, is_output, Mode::Idle),
    }
}
