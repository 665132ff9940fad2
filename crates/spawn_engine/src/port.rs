//! What a caller holds: one port per JavaScript environment, one test, one thread.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use crate::child::{Child, PROCESS};
use crate::command::{Command, Ends};
use crate::engine::Engine;
use crate::event::Event;
use crate::inbox::Inbox;
use crate::killer::Blow;
use crate::lookup::Lookup;
use crate::request::{Request, Stdio};
use crate::spawner::Job;
use crate::stream::{Mode, Stream};
use crate::suspect;
use crate::sys::{self, Errno, thread_id};
use crate::tree::{self, Tree};

/// Starts children and gets their events. Closing or dropping it lets its children run, closes their pipes, and still
/// reaps them.
pub struct Port {
    engine: &'static Engine,
    inbox: Arc<Inbox>,
    lookup: Lookup,
    thread: i32,
}

/// A child that was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spawned {
    /// Its id.
    pub id: u64,
    /// Why it could not be started, if that is known already; [`Event::Failed`] comes nevertheless.
    pub failure: Option<Errno>,
}

/// A stream given away by [`Port::take`].
#[derive(Debug)]
pub struct Taken {
    /// The near end; `None` when the stream has ended.
    pub fd: Option<OwnedFd>,
    /// What had been read but not seen.
    pub bytes: Vec<u8>,
}

impl Port {
    /// Opens a port for the calling thread. `wake` is called from other threads, at least once after every event.
    ///
    /// # Errors
    /// What [`crate::supported`] says.
    pub fn open(wake: impl Fn() + Send + Sync + 'static) -> Result<Self, Errno> {
        Ok(Self {
            engine: Engine::get()?,
            inbox: Arc::new(Inbox::new(Box::new(wake))),
            lookup: Lookup::default(),
            thread: thread_id(),
        })
    }

    /// Queues a child; the descriptors of `stdio` are copied before it returns, the program and the folder are held.
    ///
    /// # Errors
    /// A descriptor that does not exist, or no descriptors left. E2BIG for 65,535 or more stdio entries. When the request
    /// looks like one that cannot be started, the call waits, and an error of the loud kind is returned too.
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
        self.inbox.note_child(id);
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
            Some(error) if suspect::is_loud(error) => {
                self.inbox.take_failure(id);
                child.abandon(&self.engine.children.epoll);
                self.engine.children.forget_if_over(&child);
                return Err(error);
            }
            Some(_) => child.cut_off(),
            None => {}
        }
        Ok(Spawned { id, failure })
    }

    /// The owner of our jobs.
    fn owner(&self) -> usize {
        Arc::as_ptr(&self.inbox) as usize
    }

    fn wait(&self, child: &Child) -> Result<i32, Errno> {
        if !child.is_settled() {
            self.engine.spawner.hurry(child.id);
        }
        child.wait_settled()
    }

    /// How many events wait to be taken. From now on the ends of processes are the last of them.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.inbox.put_exits_last()
    }

    /// The caller is about to look at its own descriptors.
    pub fn look(&self) {
        self.inbox.look();
    }

    /// How often it has.
    #[must_use]
    pub fn looks(&self) -> u64 {
        self.inbox.looks()
    }

    /// Whether a process that has ended was known to have when the caller began to look the last time.
    #[must_use]
    pub fn ended_before_look(&self, id: u64) -> bool {
        let looks = self.inbox.looks();
        self.engine
            .children
            .find(id)
            .is_none_or(|child| child.ended_before(looks))
    }

    /// The next thing that happened, except to a child that waits for the start of another.
    #[must_use]
    pub fn next_event(&self) -> Option<Event> {
        self.inbox.next()
    }

    /// Releases a child whose [`Event::Exited`] or [`Event::Failed`] has been dealt with.
    pub fn acknowledge(&self, id: u64) {
        self.with(id, Child::acknowledge);
    }

    /// Whether the program runs already; if not, asks for [`Event::Started`], which is otherwise not worth a wake-up. What happens to
    /// children requested since the last [`Port::look`] then waits for it.
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
    /// Why it could not be started. ESRCH for a child that is long over.
    pub fn wait_started(&self, id: u64) -> Result<i32, Errno> {
        self.engine
            .children
            .find(id)
            .ok_or(libc::ESRCH)
            .and_then(|child| self.wait(&child))
    }

    /// Whether the process has ended, and [`Event::Exited`] has come or is about to.
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
    /// ESRCH when there is none, EINVAL for no signal, EPERM for somebody else's process.
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
    /// their end, whoever holds them, and [`Event::TreeEnded`] comes. It also works for a child that has ended, if it was
    /// `started_as_tree` ([`crate::Extras::tree`]); otherwise descendants are found as long as each has a parent among them.
    ///
    /// # Errors
    /// ESRCH when there is nothing to be found. What keeps a thread from starting.
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
            .end(id, tree, Blow { signal, grace }, on_end)
    }

    /// Reads a stream, up to [`crate::FLOW_CREDIT`] bytes from now on.
    pub fn flow(&self, id: u64, stream: u16) {
        self.with(id, |child| child.flow(stream, &self.engine.children.epoll));
    }

    /// Ends the collecting of a stream: the bytes so far, and whether it has ended. With `is_unseen`, the bytes come as an
    /// event instead.
    #[must_use]
    pub fn uncollect(&self, id: u64, stream: u16, is_unseen: bool) -> (Vec<u8>, bool) {
        self.with(id, |child| {
            child.uncollect(stream, is_unseen, &self.engine.children.epoll)
        })
        .unwrap_or((Vec::new(), true))
    }

    /// Gives a stream away.
    #[must_use]
    pub fn take(&self, id: u64, stream: u16) -> Taken {
        let (fd, bytes) = self
            .with(id, |child| child.take(stream, &self.engine.children.epoll))
            .unwrap_or_default();
        Taken { fd, bytes }
    }

    /// Whether a stream ended without a byte, and nobody has read from it.
    #[must_use]
    pub fn is_at_end(&self, id: u64, stream: u16) -> bool {
        self.engine
            .children
            .find(id)
            .is_some_and(|child| child.is_at_end(stream))
    }

    /// Whether nobody holds the child's end of a stream any more, whatever is left to be read.
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

    /// After the exit: closes stdin and empties untouched streams. Those of them that have not ended, which send
    /// [`Event::Ended`].
    #[must_use]
    pub fn drain(&self, id: u64) -> Vec<u32> {
        self.with(id, |child| child.drain(&self.engine.children.epoll))
            .unwrap_or_default()
    }

    /// Blocks until every child requested of this port has been started or has failed.
    pub fn flush(&self) {
        self.engine.spawner.flush(Some(self.owner()));
    }

    /// The same for every port of this process.
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

/// What a child inherits, by descriptor, three at least. Its pipes are made later.
fn copy_inherited(stdio: &[Stdio]) -> Result<Ends, Errno> {
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
