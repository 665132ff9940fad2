//! Reading: from bytes to records.

use crate::connection::{Connection, Input, Stage, Wait};
use crate::diagnose::Progress;
use crate::engine::Engine;
use crate::head;
use crate::problem::{Problem, ProblemKind};
use crate::sys;

/// Max requests of one connection that wait for responses.
const MAX_PIPELINE: u32 = 64;
/// Unsent bytes above which no further request of a connection is parsed.
const MAX_UNSENT: usize = 64 * 1024;

/// The reason for which reading pauses.
pub(crate) enum Pause {
    /// More bytes are needed.
    Bytes,
    /// The batch is full.
    Batch,
    /// Responses, a decision or credit is needed.
    Owner,
    /// A fault was found.
    Failed,
}

impl Engine {
    pub(crate) fn on_readable(&mut self, connection: &mut Box<Connection>) {
        if !connection.wants_read() {
            // Level-triggered: the kernel reports it again once it is watched again.
            self.watch_reads(connection, false);
            return;
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        match sys::receive(&connection.fd, &mut scratch) {
            Ok(0)
                if connection.responses.in_flight() > 0 && connection.read_in_turn == self.turn =>
            {
                self.watch_reads(connection, false);
                self.early_ends.push(connection.id);
            }
            Ok(0) => self.on_client_end(connection),
            Ok(count) => {
                connection.last_active = self.now_ms;
                connection.read_in_turn = self.turn;
                connection.bytes_read += count as u64;
                if matches!(connection.input, Input::Discarded) {
                    // Reading continues only to see its end: the owner may leave the close to the client.
                } else if connection.unread.is_empty() {
                    connection.packet_start = 0;
                    let taken = self.parse(connection, &scratch[..count]);
                    if taken < count {
                        connection.unread = self.take_buffer();
                        connection.unread.extend_from_slice(&scratch[taken..count]);
                    }
                } else {
                    connection.packet_start = connection.unread.len();
                    connection.unread.extend_from_slice(&scratch[..count]);
                    self.parse_unread(connection);
                }
            }
            Err(libc::EAGAIN) => {}
            Err(errno) => self.release(connection, errno),
        }
        self.scratch = scratch;
    }

    /// Continues with bytes read before.
    pub(crate) fn continue_reading(&mut self, connection: &mut Box<Connection>) {
        if connection.wait == Wait::Batch {
            // Time for which the owner keeps the bytes waiting does not count towards any limit, including that of the whole
            // request.
            let waited = self.now_ms.saturating_sub(connection.last_active);
            connection.request_since += waited;
            if connection.head_since != 0 {
                connection.head_since += waited;
            }
            connection.last_active = self.now_ms;
        }
        connection.clear_wait();
        if connection.has_unparsed() {
            self.parse_unread(connection);
        }
        self.arm(connection);
        if connection.wants_read() {
            self.watch_reads(connection, true);
        }
    }

    fn parse_unread(&mut self, connection: &mut Box<Connection>) {
        let mut unread = std::mem::take(&mut connection.unread);
        let taken = self.parse(connection, &unread);
        if taken == unread.len() {
            self.return_buffer(unread);
        } else {
            unread.drain(..taken);
            connection.unread = unread;
            connection.packet_start = connection.packet_start.saturating_sub(taken);
        }
    }

    /// Parses as much of `bytes` as possible, and returns the number of bytes parsed. After an error nothing is left.
    fn parse(&mut self, connection: &mut Box<Connection>, bytes: &[u8]) -> usize {
        let mut at = 0;
        connection.clear_wait();
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
            // A body that the owner has paused is handled by `OwnerState::Paused`.
            Pause::Owner if connection.body.is_none() && connection.wait == Wait::Nothing => {
                connection.wait = Wait::Responses;
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
        // The bytes that follow belong to the new owner of the connection.
        if connection.wait == Wait::Upgrade {
            return Err(Pause::Owner);
        }
        if matches!(connection.input, Input::ProxyHeader) {
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
            // A request that will get no response must not cut off the current one, as reporting it to an error listener would.
            *at = bytes.len();
            return Err(Pause::Bytes);
        }
        let responses = &connection.responses;
        if responses.in_flight() >= MAX_PIPELINE || responses.unsent() > MAX_UNSENT {
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
        let limits = self.settings(connection.id.server).limits();
        let fresh = || Box::new(Progress::of_head(limits));
        let head = connection.head.get_or_insert_with(fresh);
        if let Some(problem) = head.read(&bytes[at..]) {
            let problem = Problem::new(problem.kind, problem.at + at);
            return self.refuse_request(connection, problem, bytes);
        }
        let length = bytes.len() - at;
        if length > head::max_size(limits.size) || !self.batch.can_hold(0, length) {
            let problem = Problem::new(ProblemKind::HeaderOverflow, bytes.len());
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
        self.fail(connection, problem.kind, at, packet);
        Err(Pause::Failed)
    }

    /// Like `refuse`, for a head.
    pub(crate) fn refuse_request(
        &mut self,
        connection: &mut Box<Connection>,
        problem: Problem,
        bytes: &[u8],
    ) -> Result<(), Pause> {
        let (at, packet) = within_packet(connection, problem, bytes);
        self.fail_request(connection, problem.kind, at, packet);
        Err(Pause::Failed)
    }

    /// Starts the rest between two requests: nothing is in flight and no body is arriving.
    pub(crate) fn on_idle(&mut self, connection: &mut Box<Connection>) {
        if connection.body.is_none() && connection.head_since == 0 && !connection.has_failed() {
            connection.idle_since = self.now_ms;
            self.arm(connection);
        }
        if connection.is_blocked() {
            self.stall(connection);
            self.request_turn();
        }
    }

    /// Handles the end of the client's side.
    pub(crate) fn on_client_end(&mut self, connection: &mut Box<Connection>) {
        let had_failed = connection.has_failed();
        let inside = connection.body.is_some()
            || (!connection.unread.is_empty() && !connection.is_blocked() && !had_failed);
        connection.stage = Stage::Ended;
        if inside && connection.body.as_ref().is_none_or(|body| !body.discarded) {
            if connection.body.is_some() {
                self.fail(connection, ProblemKind::EarlyEnd, 0, &[]);
            } else {
                self.fail_request(connection, ProblemKind::EarlyEnd, 0, &[]);
            }
        }
        if connection.has_failed() && !had_failed {
            self.watch_reads(connection, false);
            return;
        }
        let nothing_is_due =
            connection.responses.in_flight() == 0 && connection.responses.unsent() == 0;
        if nothing_is_due && !had_failed {
            self.release(connection, 0);
            return;
        }
        self.watch_reads(connection, false);
        self.ended.push(connection.id);
        self.request_turn();
    }
}

/// Returns the last packet and the position of the problem in it, as Node reports them.
fn within_packet<'a>(
    connection: &Connection,
    problem: Problem,
    bytes: &'a [u8],
) -> (usize, &'a [u8]) {
    let start = connection.packet_start.min(bytes.len());
    (problem.at.saturating_sub(start), &bytes[start..])
}
