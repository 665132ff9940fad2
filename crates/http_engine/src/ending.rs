//! Connections that end, and how their owner is told.

use crate::batch::{Note, Whom};
use crate::connection::{ClientEnd, Connection, Input, Owner, Refusal, Stage};
use crate::engine::Engine;
use crate::problem::What;
use crate::read::Pause;
use crate::server::Source;
use crate::sys::{self, Errno};
use crate::wire::error;

impl Engine {
    /// Reports what is wrong; what comes behind it is not parsed any more.
    pub(crate) fn fail(
        &mut self,
        connection: &mut Box<Connection>,
        what: What,
        at: usize,
        packet: &[u8],
    ) {
        self.fail_at(connection, error::NO_PLACE, what, at, packet);
    }

    /// As `fail`, for a request that is refused before it was reported: its place is behind those that are not answered
    /// yet.
    pub(crate) fn fail_request(
        &mut self,
        connection: &mut Box<Connection>,
        what: What,
        at: usize,
        packet: &[u8],
    ) {
        let place = if connection.answers.in_flight() > 0 {
            connection.answers.add_request()
        } else {
            error::NO_PLACE
        };
        self.fail_at(connection, place, what, at, packet);
    }

    fn fail_at(
        &mut self,
        connection: &mut Box<Connection>,
        place: u32,
        what: What,
        at: usize,
        packet: &[u8],
    ) {
        connection.tell();
        connection.body = None;
        connection.head_since = 0;
        connection.unread = Vec::new();
        connection.head = None;
        let refusal = Refusal {
            what,
            at: at as u32,
            place,
        };
        // With a timeout, nothing is wrong with the bytes.
        connection.input = if what == What::Timeout {
            Input::Dropped
        } else {
            Input::Refused(refusal)
        };
        self.tell_refusal(connection, refusal, packet);
    }

    /// Reports one more piece of what is refused, when there is room for it.
    pub(crate) fn refuse_again(
        &mut self,
        connection: &mut Box<Connection>,
        bytes: &[u8],
    ) -> Result<(), Pause> {
        if let Input::Refused(refusal) = connection.input {
            let length = bytes.len().min(self.batch.longest_packet());
            if !self.batch.has_room(error::WORDS, length) {
                return Err(Pause::Batch);
            }
            self.tell_refusal(connection, refusal, bytes);
        }
        Err(Pause::Failed)
    }

    fn tell_refusal(&mut self, connection: &Connection, refusal: Refusal, packet: &[u8]) {
        let Refusal { what, at, place } = refusal;
        let packet = packet[..packet.len().min(self.batch.longest_packet())].to_vec();
        self.batch.note(
            connection.whom,
            Note::Error {
                code: what as u32,
                at,
                place,
                packet,
            },
        );
    }

    /// The client has ended its side and the responses written so far are on their way.
    pub(crate) fn settle_end(&mut self, connection: &mut Box<Connection>) {
        let half_open = self.settings(connection.whom.server).flags.allow_half_open;
        if (half_open || connection.client_end == ClientEnd::Reported)
            && !connection.has_failed()
            && connection.answers.in_flight() > 0
        {
            self.batch.note(connection.whom, Note::End);
            return;
        }
        connection.stage = Stage::Closing;
        self.close_if_sent(connection);
    }

    /// Closes a connection that was to be closed once everything is sent, if it is.
    pub(crate) fn close_if_sent(&mut self, connection: &mut Box<Connection>) {
        if connection.is_closing() && connection.answers.unsent() == 0 {
            sys::finish(&connection.fd, &mut self.scratch);
            self.release(connection, 0);
        }
    }

    /// Closes in order, whatever is unsent. What the client has sent and nobody has read would make the kernel reset the
    /// connection, and the client lose what was written. While its owner does not read, it is reset as with Node.
    pub(crate) fn close_now(&mut self, connection: &mut Box<Connection>) {
        if connection.owner != Owner::Paused {
            sys::finish(&connection.fd, &mut self.scratch);
        }
        self.release(connection, 0);
    }

    /// The end of a connection: its slot is free, its descriptor is closed when the caller lets it go.
    pub(crate) fn release(&mut self, connection: &mut Box<Connection>, errno: Errno) {
        let whom = connection.whom;
        let entry = &mut self.slots[whom.slot as usize];
        if entry.generation != whom.generation {
            return;
        }
        // 31 bits: the highest one marks listeners in epoll's token.
        entry.generation = (entry.generation + 1) & 0x7fff_ffff;
        self.free.push(whom.slot);
        self.epoll.remove(&connection.fd);
        self.connections -= 1;
        if connection.holds {
            connection.holds = false;
            self.holding -= 1;
        }
        self.set_pending(whom.slot, 0);
        if let Some(file) = connection.answers.file.take() {
            self.lost_files
                .insert((whom.slot, whom.generation), file.moved);
        }
        // An owner that has not heard of it may listen for errors.
        if connection.owner != Owner::Unaware || errno != 0 {
            self.batch.note(
                whom,
                Note::Close {
                    errno: errno.unsigned_abs(),
                },
            );
        }
        if let Some(memory) = connection.answers.take_memory() {
            self.give_back(memory);
        }
        if let Some(Some(server)) = self.servers.get_mut(whom.server as usize) {
            server.connections -= 1;
            self.tell_if_stopped(whom.server);
        }
    }

    pub(crate) fn tell_if_stopped(&mut self, server: u32) {
        let Some(Some(entry)) = self.servers.get(server as usize) else {
            return;
        };
        if matches!(entry.source, Source::Stopped) && entry.connections == 0 {
            self.servers[server as usize] = None;
            let whom = Whom {
                slot: u32::MAX,
                generation: 0,
                server,
            };
            self.batch.note(whom, Note::Stopped);
        }
    }
}
