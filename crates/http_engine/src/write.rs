//! Writing: from the owner's commands to bytes in the queue of a connection.

use crate::connection::{Connection, Stage};
use crate::cork::uncork;
use crate::engine::Engine;
use crate::framing::{Wrap, wrapping};
use crate::response_queue::Turn;
use crate::sys;
use crate::wire::{command, outstanding, pair, write_flags as flags};

/// From this size on, bytes are sent in place.
const MIN_IN_PLACE: usize = 16 * 1024;

#[derive(Clone, Copy, Debug)]
struct WriteCommand {
    slot: u32,
    generation: u32,
    sequence: u32,
    flags: u32,
    facts: u32,
}

impl WriteCommand {
    fn has(self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    fn wrap(self) -> Wrap {
        Wrap {
            chunk: self.has(flags::CHUNK),
            end: self.has(flags::END),
            trailers: self.has(flags::TRAILERS),
        }
    }
}

impl Engine {
    /// Executes the commands in shared memory and sends as much as possible.
    pub fn flush(&mut self) {
        if self.take_all() {
            self.send_dirty();
        }
        if self.uncork_all() {
            self.outstanding.count_flush();
        }
    }

    /// Flushes like [`Engine::flush`], from another thread than the owner's while the owner may be writing: writes so far are
    /// sent, and the memory is not reused.
    pub fn flush_concurrently(&mut self) {
        if self.take_commands() {
            self.send_dirty();
        }
        self.uncork_all();
    }

    pub(crate) fn take_all(&mut self) -> bool {
        let is_any = self.take_commands();
        self.outstanding.reset();
        is_any
    }

    /// Writes bytes from other memory, after the waiting commands, and returns the number of unsent bytes; `None` if the
    /// connection is closed. `facts` is that of a command.
    pub fn write(
        &mut self,
        slot: u32,
        generation: u32,
        sequence: u32,
        flags: u32,
        facts: u32,
        bytes: &[u8],
    ) -> Option<usize> {
        self.take_all();
        self.read_clock();
        let write = WriteCommand {
            slot,
            generation,
            sequence,
            flags,
            facts,
        };
        self.with(slot, generation, |engine, connection| {
            let now = write.has(flags::RAW) || connection.responses.turn(sequence) == Turn::Now;
            let is_behind_file = connection.responses.file.is_some();
            if now
                && bytes.len() >= MIN_IN_PLACE
                && !connection.interest.writes()
                && !is_behind_file
            {
                engine.write_large(connection, write, bytes);
            } else {
                engine.execute(connection, write, bytes, None);
            }
        });
        self.send_dirty();
        let entry = self.slots.get(slot as usize)?;
        let connection = entry.connection.as_ref()?;
        (entry.generation == generation).then(|| connection.responses.unsent())
    }

    /// Returns the part of the owner's memory that a command names. Slices cover only that part: an engine with a thread of its
    /// own works while the owner writes its next commands beside them.
    fn output(&self, start: usize, length: usize) -> Option<&'static [u8]> {
        let (memory, size) = self.memory.output;
        (start <= size && length <= size - start).then(|| {
            // SAFETY: inside the memory, which outlives the engine. Commands are taken, and their bytes sent or copied, in one
            // call, and the owner writes there again only after a call from its own thread.
            unsafe { std::slice::from_raw_parts(memory.add(start), length) }
        })
    }

    /// Passes the commands to their connections. The bytes of most stay in place. Returns true if anything may have to be sent.
    fn take_commands(&mut self) -> bool {
        let snapshot = self.outstanding.snapshot();
        if !snapshot.has_commands() {
            return !self.dirty.is_empty();
        }
        let (commands, length) = self.memory.commands;
        // The last turn may be long ago: events from now on are timed by the current clock.
        self.read_clock();
        let word = |index: usize| {
            assert!(index < length);
            // SAFETY: inside the memory. The owner writes only after the end of the commands that it has published.
            unsafe { commands.add(index).read() }
        };
        let mut at = snapshot.taken.max(outstanding::FIRST_COMMAND);
        while at + command::WORDS <= snapshot.written.min(length) {
            let write = WriteCommand {
                flags: word(at + command::ACTION_AND_FLAGS) >> pair::SECOND_SHIFT,
                slot: word(at + command::SLOT),
                generation: word(at + command::GENERATION),
                sequence: word(at + command::SEQUENCE),
                facts: word(at + command::FACTS),
            };
            let bytes = self.output(
                word(at + command::OFFSET) as usize,
                word(at + command::LENGTH) as usize,
            );
            at += command::WORDS;
            let Some(bytes) = bytes else {
                continue;
            };
            self.with(write.slot, write.generation, |engine, connection| {
                engine.execute(connection, write, bytes, Some(bytes));
            });
        }
        self.outstanding.take_until(snapshot.written);
        true
    }

    /// Executes a write. `shared` is `bytes` if they may stay in place for now.
    fn execute(
        &mut self,
        connection: &mut Box<Connection>,
        write: WriteCommand,
        bytes: &[u8],
        shared: Option<&'static [u8]>,
    ) {
        let raw = write.has(flags::RAW);
        let turn = if raw {
            Turn::Now
        } else {
            connection.responses.turn(write.sequence)
        };
        match turn {
            Turn::Never => return,
            Turn::Later => {
                connection.responses.push_later(
                    write.sequence,
                    bytes,
                    write.wrap(),
                    write.has(flags::CLOSE),
                    write.facts,
                );
                return;
            }
            Turn::Now => {}
        }
        if connection.is_closing() && !raw {
            return;
        }
        let plain = !write.has(flags::CHUNK | flags::TRAILERS);
        self.mark_dirty(connection);
        match shared {
            Some(_) if plain && connection.responses.unsent() == 0 => {
                connection.responses.shared = shared.filter(|bytes| !bytes.is_empty());
            }
            _ if plain && bytes.is_empty() => {}
            _ => {
                if connection.responses.needs_buffer() {
                    let buffer = self.take_buffer();
                    connection.responses.set_buffer(buffer);
                }
                connection.responses.push(bytes, write.wrap());
            }
        }
        self.after_write(connection, write);
    }

    /// Prepares for bytes of the engine's own, while nothing is in flight. They leave with the turn.
    pub(crate) fn prepare_queue(&mut self, connection: &mut Connection) {
        if connection.responses.needs_buffer() {
            let buffer = self.take_buffer();
            connection.responses.set_buffer(buffer);
        }
        self.mark_dirty(connection);
    }

    fn mark_dirty(&mut self, connection: &Connection) {
        if self.dirty.last() != Some(&connection.id.slot) {
            self.dirty.push(connection.id.slot);
        }
    }

    /// Sends bytes in place, and copies those that the kernel does not take.
    fn write_large(&mut self, connection: &mut Box<Connection>, write: WriteCommand, bytes: &[u8]) {
        if connection.is_closing() && !write.has(flags::RAW) {
            return;
        }
        let has_more = !write.has(flags::END | flags::CLOSE | flags::RAW);
        if has_more {
            self.cork(connection);
        }
        let (size, before, behind) = wrapping(bytes.len(), write.wrap());
        if !connection.responses.stored_body().is_empty() {
            connection.responses.copy_borrowed();
        }
        let first = match connection.responses.shared {
            Some(bytes) => bytes,
            None => connection.responses.queued(),
        };
        let before = size.as_ref().map_or(before, |size| size.bytes());
        let pieces = [first, before, bytes, behind];
        let sent = match sys::send_pieces(&connection.fd, &pieces) {
            Ok(sent) => sent,
            Err(errno) => {
                self.release(connection, errno);
                return;
            }
        };
        connection.last_active = self.now_ms;
        connection.bytes_written += sent as u64;
        let total: usize = pieces.iter().map(|piece| piece.len()).sum();
        if sent < total {
            let mut rest = self.take_buffer();
            let mut skip = sent;
            for piece in pieces {
                let skipped = skip.min(piece.len());
                skip -= skipped;
                rest.extend_from_slice(&piece[skipped..]);
            }
            connection.responses.replace(rest);
        } else {
            connection.responses.replace(Vec::new());
            if !has_more {
                uncork(connection);
            }
        }
        self.mark_dirty(connection);
        self.after_write(connection, write);
    }

    fn after_write(&mut self, connection: &mut Box<Connection>, write: WriteCommand) {
        if !write.has(flags::END | flags::CLOSE) {
            return;
        }
        if write.has(flags::CLOSE) {
            connection.stage = Stage::Closing;
        }
        if write.has(flags::END) && !write.has(flags::RAW) {
            let Connection {
                responses,
                stage,
                observed,
                ..
            } = &mut **connection;
            let mut ended = |sequence: u32, facts: u32| {
                if self.exchanges.is_some() {
                    observed.end(sequence, facts, 0);
                }
            };
            ended(write.sequence, write.facts);
            if *stage == Stage::Closing {
                // This was the last response, whatever is written for the later requests.
                responses.close();
            } else if responses.end(ended) {
                *stage = Stage::Closing;
            }
            if connection.responses.in_flight() == 0 {
                self.on_idle(connection);
                if connection.stage == Stage::Ended {
                    connection.stage = Stage::Closing;
                }
            } else if connection.is_blocked() {
                self.stall(connection);
                self.request_turn();
            }
        }
    }
}
