//! The end of connections, and its report to the owner.

use crate::batch::{ConnectionId, Event};
use crate::connection::{ClientEnd, Connection, Input, OwnerState, Refusal, Stage};
use crate::engine::Engine;
use crate::problem::ProblemKind;
use crate::read::Pause;
use crate::server::Source;
use crate::sys::{self, Errno};
use crate::wire::error;

impl Engine {
    /// Reports a fault and stops parsing.
    pub(crate) fn fail(
        &mut self,
        connection: &mut Box<Connection>,
        kind: ProblemKind,
        at: usize,
        packet: &[u8],
    ) {
        self.fail_at(connection, error::NO_PLACE, kind, at, packet);
    }

    /// Reports a fault like `fail`, for a request that is refused before it was reported: its place is after those whose
    /// responses are still due.
    pub(crate) fn fail_request(
        &mut self,
        connection: &mut Box<Connection>,
        kind: ProblemKind,
        at: usize,
        packet: &[u8],
    ) {
        if self.exchanges.is_some() {
            self.observe_refusal(connection, kind);
        }
        let place = if connection.responses.in_flight() > 0 {
            connection.responses.add_request()
        } else {
            error::NO_PLACE
        };
        self.fail_at(connection, place, kind, at, packet);
    }

    fn fail_at(
        &mut self,
        connection: &mut Box<Connection>,
        place: u32,
        kind: ProblemKind,
        at: usize,
        packet: &[u8],
    ) {
        connection.mark_reported();
        connection.body = None;
        connection.head_since = 0;
        connection.unread = Vec::new();
        connection.head = None;
        let refusal = Refusal {
            kind,
            at: at as u32,
            place,
        };
        // A timeout is not a fault of the bytes.
        connection.input = if kind == ProblemKind::Timeout {
            Input::Discarded
        } else {
            Input::Refused(refusal)
        };
        self.report_refusal(connection, refusal, packet);
    }

    /// Reports one more piece of refused input, if there is room for it.
    pub(crate) fn refuse_again(
        &mut self,
        connection: &mut Box<Connection>,
        bytes: &[u8],
    ) -> Result<(), Pause> {
        if let Input::Refused(refusal) = connection.input {
            let length = bytes.len().min(self.batch.max_packet());
            if !self.batch.has_room(error::WORDS, length) {
                return Err(Pause::Batch);
            }
            self.report_refusal(connection, refusal, bytes);
        }
        Err(Pause::Failed)
    }

    fn report_refusal(&mut self, connection: &Connection, refusal: Refusal, packet: &[u8]) {
        let Refusal { kind, at, place } = refusal;
        let packet = packet[..packet.len().min(self.batch.max_packet())].to_vec();
        self.batch.report(
            connection.id,
            Event::Error {
                code: kind as u32,
                at,
                place,
                packet,
            },
        );
    }

    /// Handles the end of the client's side, after the responses written so far have been queued.
    pub(crate) fn handle_client_end(&mut self, connection: &mut Box<Connection>) {
        let half_open = self.settings(connection.id.server).flags.allow_half_open;
        if (half_open || connection.client_end == ClientEnd::Reported)
            && !connection.has_failed()
            && connection.responses.in_flight() > 0
        {
            self.batch.report(connection.id, Event::End);
            return;
        }
        connection.stage = Stage::Closing;
        self.close_if_sent(connection);
    }

    /// Closes a connection that is to be closed once everything is sent, if it is.
    pub(crate) fn close_if_sent(&mut self, connection: &mut Box<Connection>) {
        if connection.is_closing() && connection.responses.unsent() == 0 {
            sys::shutdown_and_drain(&connection.fd, &mut self.scratch);
            self.release(connection, 0);
        }
    }

    /// Closes in order, with unsent bytes lost. Bytes that the client has sent and nothing has read would make the kernel reset
    /// the connection, and the client lose what was written. While its owner does not read, it is reset as with Node.
    pub(crate) fn close_now(&mut self, connection: &mut Box<Connection>) {
        if connection.owner != OwnerState::Paused {
            sys::shutdown_and_drain(&connection.fd, &mut self.scratch);
        }
        self.release(connection, 0);
    }

    /// Ends a connection: its slot is free, its descriptor is closed when the caller drops it.
    pub(crate) fn release(&mut self, connection: &mut Box<Connection>, errno: Errno) {
        let id = connection.id;
        if !self.is_current(connection) {
            return;
        }
        if self.exchanges.is_some() {
            self.observe_close(connection, errno);
        }
        let entry = &mut self.slots[id.slot as usize];
        // 31 bits: the highest one marks listeners in epoll's token.
        entry.generation = (entry.generation + 1) & 0x7fff_ffff;
        self.free.push(id.slot);
        self.epoll.remove(&connection.fd);
        self.connections -= 1;
        if connection.holds {
            connection.holds = false;
            self.holding -= 1;
        }
        self.set_pending(id.slot, 0);
        if let Some(file) = connection.responses.file.take() {
            self.lost_files.insert((id.slot, id.generation), file.sent);
        }
        // An owner that has not been notified of it may still listen for errors.
        if connection.owner != OwnerState::Unreported || errno != 0 {
            self.batch.report(
                id,
                Event::Close {
                    errno: errno.unsigned_abs(),
                },
            );
        }
        if let Some(buffer) = connection.responses.take_buffer() {
            self.return_buffer(buffer);
        }
        if let Some(Some(server)) = self.servers.get_mut(id.server as usize) {
            server.connections -= 1;
            self.report_if_stopped(id.server);
        }
    }

    pub(crate) fn report_if_stopped(&mut self, server: u32) {
        let Some(Some(entry)) = self.servers.get(server as usize) else {
            return;
        };
        if matches!(entry.source, Source::Stopped) && entry.connections == 0 {
            self.servers[server as usize] = None;
            let id = ConnectionId {
                slot: u32::MAX,
                generation: 0,
                server,
            };
            self.batch.report(id, Event::Stopped);
        }
    }
}
