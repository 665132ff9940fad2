//! File ranges, sent after the bytes that were written before them.

use crate::batch::Event;
use crate::connection::Connection;
use crate::engine::Engine;
use crate::file::{FilePart, FileRange};
use crate::framing::SizeLine;
use crate::response_queue::Turn;
use crate::sys;

/// Max bytes of a file that a connection sends before others get their turn.
const MAX_BURST: u64 = 1024 * 1024;

/// The progress of a file range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileProgress {
    /// The connection is closed.
    Closed,
    /// The kernel takes no more now, or other connections get their turn.
    Waits,
    /// It is over: sent, or the owner has to continue.
    Finished,
}

impl Engine {
    /// Sends a file range after everything that was written, as a part of the response in turn. Returns the number of bytes sent
    /// if it is over at once; then the rest is the owner's to send. Returns `None` while it is under way: its end is reported,
    /// and [`Engine::end_file`] returns its progress.
    pub fn send_file(
        &mut self,
        slot: u32,
        generation: u32,
        sequence: u32,
        range: FileRange,
    ) -> Option<u64> {
        self.take_all();
        self.read_clock();
        let is_under_way = self.with(slot, generation, |engine, connection| {
            let may_begin = connection.responses.turn(sequence) == Turn::Now
                && !connection.is_closing()
                && connection.responses.file.is_none()
                && sys::is_non_blocking(&connection.fd);
            let Some(file) = may_begin.then(|| FilePart::open(range)).flatten() else {
                connection.responses.file_sent = 0;
                return false;
            };
            connection.responses.copy_borrowed();
            connection.responses.file = Some(Box::new(file));
            // A connection that is lost meanwhile reports its end, which also ends the range.
            if !engine.send(connection) {
                return true;
            }
            match &mut connection.responses.file {
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

    /// Ends the file range under way, if any, and returns the number of bytes sent of the last one.
    pub fn end_file(&mut self, slot: u32, generation: u32) -> u64 {
        let lost = self.lost_files.remove(&(slot, generation));
        let sent = self.with(slot, generation, |engine, connection| {
            if connection.responses.file.is_some() {
                connection.responses.end_file();
                engine.send(connection);
            }
            std::mem::take(&mut connection.responses.file_sent)
        });
        lost.unwrap_or(sent)
    }

    /// Continues the file range that is next in line.
    pub(crate) fn continue_file(&mut self, connection: &mut Box<Connection>) -> FileProgress {
        let Some(mut file) = connection.responses.file.take() else {
            return FileProgress::Finished;
        };
        let progress = if file.chunk == 0 {
            self.send_file_bytes(connection, &mut file)
        } else {
            self.send_file_chunks(connection, &mut file)
        };
        let is_reported = file.is_reported;
        connection.responses.file = Some(file);
        match progress {
            FileProgress::Waits => {}
            FileProgress::Closed => {
                // Kept for the owner, which requests the progress later.
                let id = connection.id;
                let file = connection.responses.file.take();
                let count = file.map_or(0, |file| file.sent);
                self.lost_files.insert((id.slot, id.generation), count);
            }
            FileProgress::Finished => {
                connection.responses.end_file();
                if is_reported {
                    self.batch.report(connection.id, Event::File);
                }
            }
        }
        progress
    }

    fn send_file_bytes(
        &mut self,
        connection: &mut Box<Connection>,
        file: &mut FilePart,
    ) -> FileProgress {
        let mut burst = MAX_BURST;
        while file.remaining() > 0 {
            if burst == 0 {
                return FileProgress::Waits;
            }
            let length = file.cached_length(burst);
            if length == 0 {
                return FileProgress::Finished;
            }
            match file.send(&connection.fd, length) {
                Ok(0) => return FileProgress::Finished,
                Ok(sent) => {
                    self.count_sent(connection, sent);
                    if sent < length {
                        return FileProgress::Waits;
                    }
                    burst -= sent;
                }
                Err(libc::EAGAIN) => return FileProgress::Waits,
                Err(errno @ (libc::EPIPE | libc::ECONNRESET)) => {
                    self.release(connection, errno);
                    return FileProgress::Closed;
                }
                // An error of the file: the owner meets it when it reads.
                Err(_) => return FileProgress::Finished,
            }
        }
        FileProgress::Finished
    }

    /// Sends a range in chunks. A chunk whose size was sent is completed before anything else: bytes of it that the kernel does
    /// not take are copied.
    fn send_file_chunks(
        &mut self,
        connection: &mut Box<Connection>,
        file: &mut FilePart,
    ) -> FileProgress {
        let mut burst = MAX_BURST;
        while file.remaining() > 0 {
            if burst == 0 {
                return FileProgress::Waits;
            }
            let size = file.remaining().min(file.chunk as u64);
            if file.cached_length(size) < size {
                return FileProgress::Finished;
            }
            if connection.responses.needs_buffer() {
                let buffer = self.take_buffer();
                connection.responses.set_buffer(buffer);
            }
            let responses = &mut connection.responses;
            responses
                .queue()
                .extend_from_slice(SizeLine::new(size as usize).bytes());
            let sent = match sys::send_more(&connection.fd, responses.queued()) {
                Ok(sent) => sent,
                Err(errno) => {
                    self.release(connection, errno);
                    return FileProgress::Closed;
                }
            };
            responses.advance(sent);
            let sent = if responses.queued().is_empty() {
                // An error of the socket shows in the next call, one of the file when it is copied.
                file.send(&connection.fd, size).unwrap_or(0)
            } else {
                0
            };
            self.count_sent(connection, sent);
            let queue = connection.responses.queue();
            if sent < size && !file.copy((size - sent) as usize, queue) {
                // The file shrank in between, or cannot be read: its chunk cannot be completed.
                self.release(connection, libc::EIO);
                return FileProgress::Closed;
            }
            queue.extend_from_slice(b"\r\n");
            if sent < size {
                return FileProgress::Waits;
            }
            burst = burst.saturating_sub(size);
        }
        FileProgress::Finished
    }

    fn count_sent(&self, connection: &mut Connection, sent: u64) {
        if sent > 0 {
            connection.last_active = self.now_ms;
            connection.bytes_written += sent;
        }
    }
}
