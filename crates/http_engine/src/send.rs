//! Sending: from the queue of a connection to the kernel.

use crate::batch::Event;
use crate::connection::{Connection, OwnerState};
use crate::cork::uncork;
use crate::engine::Engine;
use crate::send_file::FileProgress;
use crate::sys;

impl Engine {
    /// Sends what the connections have that were written to since the last call.
    pub(crate) fn send_dirty(&mut self) {
        let mut dirty = std::mem::take(&mut self.dirty);
        for slot in &dirty {
            let generation = self.slots[*slot as usize].generation;
            self.with(*slot, generation, |engine, connection| {
                engine.send(connection);
            });
        }
        if self.exchanges.is_some() {
            self.observe_ends(&dirty);
        }
        dirty.clear();
        if self.dirty.is_empty() {
            self.dirty = dirty;
        }
    }

    /// Sends unsent bytes. Returns false if the connection is closed.
    pub(crate) fn send(&mut self, connection: &mut Box<Connection>) -> bool {
        let slot = connection.id.slot;
        let had_to_wait = connection.interest.writes();
        if had_to_wait && connection.responses.shared.is_some() {
            connection.responses.copy_borrowed();
        }
        let mut is_any = false;
        loop {
            match self.send_bytes(connection) {
                Some(was_any) => is_any |= was_any,
                None => return false,
            }
            if !connection.responses.is_file_next() {
                break;
            }
            is_any = true;
            match self.continue_file(connection) {
                FileProgress::Closed => return false,
                FileProgress::Waits => break,
                FileProgress::Finished => {}
            }
        }
        let unsent = connection.responses.unsent();
        let waits = unsent > 0;
        self.watch_writes(connection, waits);
        self.set_pending(slot, unsent);
        if waits {
            return true;
        }
        if connection.observed.awaits_sent {
            self.observe_sent(connection);
        }
        if is_any {
            uncork(connection);
        }
        if let Some(buffer) = connection.responses.take_buffer() {
            self.return_buffer(buffer);
        }
        if had_to_wait {
            if connection.idle_since != 0 {
                connection.idle_since = self.now_ms;
            }
            if connection.owner != OwnerState::Unreported {
                self.batch.report(connection.id, Event::Drain);
            }
        }
        if connection.is_blocked() {
            self.stall(connection);
            self.request_turn();
        }
        if connection.is_closing() {
            self.close_if_sent(connection);
            return false;
        }
        true
    }

    /// Sends the bytes in memory, up to a file range. Returns true if there were any; `None` if the connection is closed.
    fn send_bytes(&mut self, connection: &mut Box<Connection>) -> Option<bool> {
        let shared = connection.responses.shared.take();
        let bytes = shared.unwrap_or_else(|| connection.responses.queued());
        let body = connection.responses.stored_body();
        let is_any = !bytes.is_empty() || !body.is_empty();
        if is_any {
            let length = bytes.len();
            let result = if body.is_empty() {
                sys::send(&connection.fd, bytes)
            } else {
                sys::send_pieces(&connection.fd, &[bytes, body])
            };
            let sent = match result {
                Ok(sent) => sent,
                Err(errno) => {
                    self.release(connection, errno);
                    return None;
                }
            };
            if sent > 0 {
                connection.last_active = self.now_ms;
                connection.bytes_written += sent as u64;
            }
            match shared {
                Some(bytes) if sent < length => {
                    let mut rest = self.take_buffer();
                    rest.extend_from_slice(&bytes[sent..]);
                    connection.responses.replace(rest);
                }
                Some(_) => {}
                None => connection.responses.advance(sent),
            }
        }
        Some(is_any)
    }
}
