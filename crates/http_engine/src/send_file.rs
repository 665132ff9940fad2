//! Parts of files, behind the bytes that were written before them.

use crate::answers::{SizeLine, Turn};
use crate::batch::Note;
use crate::connection::Connection;
use crate::engine::Engine;
use crate::file::{FilePart, FileRange};
use crate::sys;

/// Bytes of a file that a connection sends before others have their turn.
const BURST: u64 = 1024 * 1024;

/// How far a part of a file has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moved {
    /// The connection is gone.
    Gone,
    /// The kernel takes no more now, or others have their turn.
    Waits,
    /// It is over: sent, or the owner has to go on.
    Over,
}

impl Engine {
    /// Sends a part of a file behind everything that was written, as a part of the response in turn. Says how many bytes have
    /// left when it is over at once; then what is left is the owner's to send. `None` while it is under way: its end is reported,
    /// and [`Engine::end_file`] says how far it came.
    pub fn send_file(
        &mut self,
        slot: u32,
        generation: u32,
        sequence: u32,
        range: FileRange,
    ) -> Option<u64> {
        self.take_all();
        self.now_ms = sys::now_ms();
        let is_under_way = self.with(slot, generation, |engine, connection| {
            let may_begin = connection.answers.turn(sequence) == Turn::Now
                && !connection.is_closing()
                && connection.answers.file.is_none()
                && sys::is_non_blocking(&connection.fd);
            let Some(file) = may_begin.then(|| FilePart::open(range)).flatten() else {
                connection.answers.moved = 0;
                return false;
            };
            connection.answers.own();
            connection.answers.file = Some(Box::new(file));
            // A connection that is lost meanwhile reports its end, which is also that of the part.
            if !engine.send(connection) {
                return true;
            }
            match &mut connection.answers.file {
                Some(file) => {
                    file.is_reported = true;
                    true
                }
                None => false,
            }
        });
        self.send_dirty();
        (!is_under_way).then(|| self.end_file(slot, generation))
    }

    /// Ends the part of a file that is under way, if one is, and says how many bytes of the last one have left.
    pub fn end_file(&mut self, slot: u32, generation: u32) -> u64 {
        let lost = self.lost_files.remove(&(slot, generation));
        let moved = self.with(slot, generation, |engine, connection| {
            if connection.answers.file.is_some() {
                connection.answers.end_file();
                engine.send(connection);
            }
            std::mem::take(&mut connection.answers.moved)
        });
        lost.unwrap_or(moved)
    }

    /// Goes on with the part of a file that is next in line.
    pub(crate) fn move_file(&mut self, connection: &mut Box<Connection>) -> Moved {
        let Some(mut file) = connection.answers.file.take() else {
            return Moved::Over;
        };
        let moved = if file.chunk == 0 {
            self.move_bytes(connection, &mut file)
        } else {
            self.move_chunks(connection, &mut file)
        };
        let is_reported = file.is_reported;
        connection.answers.file = Some(file);
        match moved {
            Moved::Waits => {}
            Moved::Gone => {
                // The owner asks how far it came.
                let whom = connection.whom;
                let file = connection.answers.file.take();
                let count = file.map_or(0, |file| file.moved);
                self.lost_files.insert((whom.slot, whom.generation), count);
            }
            Moved::Over => {
                connection.answers.end_file();
                if is_reported {
                    self.batch.note(connection.whom, Note::File);
                }
            }
        }
        moved
    }

    fn move_bytes(&mut self, connection: &mut Box<Connection>, file: &mut FilePart) -> Moved {
        let mut burst = BURST;
        while file.left() > 0 {
            if burst == 0 {
                return Moved::Waits;
            }
            let length = file.in_memory(burst);
            if length == 0 {
                return Moved::Over;
            }
            match file.send(&connection.fd, length) {
                Ok(0) => return Moved::Over,
                Ok(sent) => {
                    self.count_sent(connection, sent);
                    if sent < length {
                        return Moved::Waits;
                    }
                    burst -= sent;
                }
                Err(libc::EAGAIN) => return Moved::Waits,
                Err(errno @ (libc::EPIPE | libc::ECONNRESET)) => {
                    self.release(connection, errno);
                    return Moved::Gone;
                }
                // The file's: the owner finds out when it reads.
                Err(_) => return Moved::Over,
            }
        }
        Moved::Over
    }

    /// A chunk whose size was sent is complete before anything else is done: what the kernel does not take of it is copied.
    fn move_chunks(&mut self, connection: &mut Box<Connection>, file: &mut FilePart) -> Moved {
        let mut burst = BURST;
        while file.left() > 0 {
            if burst == 0 {
                return Moved::Waits;
            }
            let size = file.left().min(file.chunk as u64);
            if file.in_memory(size) < size {
                return Moved::Over;
            }
            if connection.answers.needs_memory() {
                let memory = self.lend();
                connection.answers.give_memory(memory);
            }
            let answers = &mut connection.answers;
            answers
                .queue()
                .extend_from_slice(SizeLine::new(size as usize).bytes());
            let sent = match sys::send_more(&connection.fd, answers.queued()) {
                Ok(sent) => sent,
                Err(errno) => {
                    self.release(connection, errno);
                    return Moved::Gone;
                }
            };
            answers.advance(sent);
            let sent = if answers.queued().is_empty() {
                // An error of the socket's shows in the next call, one of the file's when it is copied.
                file.send(&connection.fd, size).unwrap_or(0)
            } else {
                0
            };
            self.count_sent(connection, sent);
            let queue = connection.answers.queue();
            if sent < size && !file.copy((size - sent) as usize, queue) {
                // It shrank between the two, or cannot be read: its chunk cannot be completed.
                self.release(connection, libc::EIO);
                return Moved::Gone;
            }
            queue.extend_from_slice(b"\r\n");
            if sent < size {
                return Moved::Waits;
            }
            burst = burst.saturating_sub(size);
        }
        Moved::Over
    }

    fn count_sent(&self, connection: &mut Connection, sent: u64) {
        if sent > 0 {
            connection.last_active = self.now_ms;
            connection.bytes_written += sent;
        }
    }
}
