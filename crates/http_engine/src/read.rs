//! From bytes to records.

use crate::connection::{Connection, Input, Stage, Wait};
use crate::diagnose::Progress;
use crate::engine::Engine;
use crate::head;
use crate::problem::{Problem, What};
use crate::sys;

/// Requests of one connection that may wait for answers at once.
const PIPELINE: u32 = 64;
/// Unsent bytes above which no further request of a connection is looked at.
const UNSENT: usize = 64 * 1024;

/// Why reading goes no further for now.
pub(crate) enum Pause {
    /// More bytes are needed.
    Bytes,
    /// The batch is full.
    Batch,
    /// Answers, a decision or credit is needed.
    Owner,
    /// Something is wrong.
    Failed,
}

impl Engine {
    pub(crate) fn on_readable(&mut self, connection: &mut Box<Connection>) {
        if !connection.wants_read() {
            // Level-triggered: the kernel reports it again when it is asked again.
            self.watch_reads(connection, false);
            return;
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        match sys::receive(&connection.fd, &mut scratch) {
            Ok(0) if connection.answers.in_flight() > 0 && connection.read_in == self.turn => {
                self.watch_reads(connection, false);
                self.early_ends.push(connection.whom);
            }
            Ok(0) => self.on_end(connection),
            Ok(count) => {
                connection.last_active = self.now_ms;
                connection.read_in = self.turn;
                connection.bytes_read += count as u64;
                if matches!(connection.input, Input::Dropped) {
                    // Reading continues only to see its end: the owner may leave that to the client.
                } else if connection.unread.is_empty() {
                    connection.held = 0;
                    let taken = self.understand(connection, &scratch[..count]);
                    if taken < count {
                        connection.unread = self.lend();
                        connection.unread.extend_from_slice(&scratch[taken..count]);
                    }
                } else {
                    connection.held = connection.unread.len();
                    connection.unread.extend_from_slice(&scratch[..count]);
                    self.understand_unread(connection);
                }
            }
            Err(libc::EAGAIN) => {}
            Err(errno) => self.release(connection, errno),
        }
        self.scratch = scratch;
    }

    /// Goes on with what was read before.
    pub(crate) fn read_on(&mut self, connection: &mut Box<Connection>) {
        if connection.wait == Wait::Batch {
            // No limit runs for what the owner keeps waiting, that of the whole request included.
            let waited = self.now_ms.saturating_sub(connection.last_active);
            connection.request_since += waited;
            if connection.head_since != 0 {
                connection.head_since += waited;
            }
            connection.last_active = self.now_ms;
        }
        connection.look_again();
        if connection.has_more() {
            self.understand_unread(connection);
        }
        self.arm(connection);
        if connection.wants_read() {
            self.watch_reads(connection, true);
        }
    }

    fn understand_unread(&mut self, connection: &mut Box<Connection>) {
        let mut unread = std::mem::take(&mut connection.unread);
        let taken = self.understand(connection, &unread);
        if taken == unread.len() {
            self.give_back(unread);
        } else {
            unread.drain(..taken);
            connection.unread = unread;
            connection.held = connection.held.saturating_sub(taken);
        }
    }

    /// Parses as much of `bytes` as possible, and returns how much that is. Behind an error nothing is left.
    fn understand(&mut self, connection: &mut Box<Connection>, bytes: &[u8]) -> usize {
        let mut at = 0;
        connection.look_again();
        let pause = loop {
            if connection.is_closing() {
                break Pause::Failed;
            }
            let step = if connection.has_failed() {
                self.refuse_again(connection, bytes)
            } else if connection.body.is_some() {
                self.read_body(connection, bytes, &mut at)
            } else {
                self.read_head(connection, bytes, &mut at)
            };
            if let Err(pause) = step {
                break pause;
            }
        };
        match pause {
            Pause::Failed => return bytes.len(),
            Pause::Batch => {
                connection.wait = Wait::Batch;
                self.stall(connection);
            }
            // Of a body the owner wants no more: that is `Owner::Paused`.
            Pause::Owner if connection.body.is_none() && connection.wait == Wait::Nothing => {
                connection.wait = Wait::Answers;
            }
            Pause::Owner => {}
            Pause::Bytes => {}
        }
        self.arm(connection);
        at
    }

    fn read_head(
        &mut self,
        connection: &mut Box<Connection>,
        bytes: &[u8],
        at: &mut usize,
    ) -> Result<(), Pause> {
        // What follows belongs to whoever takes the connection over.
        if connection.wait == Wait::Upgrade {
            return Err(Pause::Owner);
        }
        if matches!(connection.input, Input::OfProxy) {
            return self.read_proxy_header(connection, bytes, at);
        }
        // Empty lines before a request are ignored (RFC 9112, section 2.2).
        while matches!(bytes.get(*at), Some(b'\r' | b'\n')) {
            *at += 1;
        }
        let rest = &bytes[*at..];
        if rest.is_empty() {
            return Err(Pause::Bytes);
        }
        if matches!(connection.input, Input::LastRequest) {
            // A request that nobody will answer is no reason to cut the response off, as a listener for errors would.
            *at = bytes.len();
            return Err(Pause::Bytes);
        }
        let answers = &connection.answers;
        if answers.in_flight() >= PIPELINE || answers.unsent() > UNSENT {
            return Err(Pause::Owner);
        }
        let bounds = match &connection.head {
            Some(head) if !head.may_end(rest) => None,
            _ => head::bounds(rest),
        };
        let Some(bounds) = bounds else {
            return self.wait_for_head(connection, bytes, *at);
        };
        self.request(connection, bytes, at, bounds)
    }

    fn wait_for_head(
        &mut self,
        connection: &mut Box<Connection>,
        bytes: &[u8],
        at: usize,
    ) -> Result<(), Pause> {
        let limits = self.settings(connection.whom.server).limits();
        let fresh = || Box::new(Progress::of_head(limits));
        let head = connection.head.get_or_insert_with(fresh);
        if let Some(problem) = head.read(&bytes[at..]) {
            let problem = Problem::new(problem.what, problem.at + at);
            return self.refuse_request(connection, problem, bytes);
        }
        let length = bytes.len() - at;
        if length > head::longest(limits.size) || !self.batch.can_hold(0, length) {
            let problem = Problem::new(What::HeaderOverflow, bytes.len());
            return self.refuse_request(connection, problem, bytes);
        }
        if connection.head_since == 0 {
            connection.head_since = self.now_ms;
            connection.idle_since = 0;
        }
        Err(Pause::Bytes)
    }

    pub(crate) fn refuse(
        &mut self,
        connection: &mut Box<Connection>,
        problem: Problem,
        bytes: &[u8],
    ) -> Result<(), Pause> {
        let (at, packet) = within_packet(connection, problem, bytes);
        self.fail(connection, problem.what, at, packet);
        Err(Pause::Failed)
    }

    /// As `refuse`, of a head.
    pub(crate) fn refuse_request(
        &mut self,
        connection: &mut Box<Connection>,
        problem: Problem,
        bytes: &[u8],
    ) -> Result<(), Pause> {
        let (at, packet) = within_packet(connection, problem, bytes);
        self.fail_request(connection, problem.what, at, packet);
        Err(Pause::Failed)
    }

    /// Nothing is in flight and no body comes in: the connection is between two requests.
    pub(crate) fn rest(&mut self, connection: &mut Box<Connection>) {
        if connection.body.is_none() && connection.head_since == 0 && !connection.has_failed() {
            connection.idle_since = self.now_ms;
            self.arm(connection);
        }
        if connection.is_blocked() {
            self.stall(connection);
            self.ring();
        }
    }

    /// The client has ended its side.
    pub(crate) fn on_end(&mut self, connection: &mut Box<Connection>) {
        let had_failed = connection.has_failed();
        let inside = connection.body.is_some()
            || (!connection.unread.is_empty() && !connection.is_blocked() && !had_failed);
        connection.stage = Stage::Ended;
        if inside && connection.body.as_ref().is_none_or(|body| !body.discarded) {
            if connection.body.is_some() {
                self.fail(connection, What::EarlyEnd, 0, &[]);
            } else {
                self.fail_request(connection, What::EarlyEnd, 0, &[]);
            }
        }
        if connection.has_failed() && !had_failed {
            self.watch_reads(connection, false);
            return;
        }
        let nothing_is_due =
            connection.answers.in_flight() == 0 && connection.answers.unsent() == 0;
        if nothing_is_due && !had_failed {
            self.release(connection, 0);
            return;
        }
        self.watch_reads(connection, false);
        self.ended.push(connection.whom);
        self.ring();
    }
}

/// As Node reports it: the packet that came last, and where in it the problem is.
fn within_packet<'a>(
    connection: &Connection,
    problem: Problem,
    bytes: &'a [u8],
) -> (usize, &'a [u8]) {
    let start = connection.held.min(bytes.len());
    (problem.at.saturating_sub(start), &bytes[start..])
}
