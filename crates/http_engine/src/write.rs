//! From what the owner wrote to bytes on the wire.

use crate::answers::{Turn, Wrap, wrapping};
use crate::batch::Note;
use crate::connection::{Connection, Owner, Stage};
use crate::cork::uncork;
use crate::engine::Engine;
use crate::send_file::Moved;
use crate::sys;
use crate::wire::{command, outstanding, pair, write_flags as flags};

/// From here on bytes are sent from where they lie.
const LARGE: usize = 16 * 1024;

#[derive(Clone, Copy, Debug)]
struct Order {
    slot: u32,
    generation: u32,
    sequence: u32,
    flags: u32,
}

impl Order {
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
    /// Carries out the commands in shared memory and sends what can be sent.
    pub fn flush(&mut self) {
        if self.take_all() {
            self.send_dirty();
        }
        if self.uncork_all() {
            self.outstanding.count_flush();
        }
    }

    /// As [`Engine::flush`], from another thread than the owner's while the owner may be writing: what is written by now is
    /// sent, and the memory is not used again.
    pub fn flush_beside(&mut self) {
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

    /// Writes bytes that lie elsewhere, behind the commands that are there, and says how many bytes are unsent then;
    /// `None` when the connection is gone.
    pub fn write(
        &mut self,
        slot: u32,
        generation: u32,
        sequence: u32,
        flags: u32,
        bytes: &[u8],
    ) -> Option<usize> {
        self.take_all();
        self.now_ms = sys::now_ms();
        let order = Order {
            slot,
            generation,
            sequence,
            flags,
        };
        self.with(slot, generation, |engine, connection| {
            let now = order.has(flags::RAW) || connection.answers.turn(sequence) == Turn::Now;
            let is_behind_file = connection.answers.file.is_some();
            if now && bytes.len() >= LARGE && !connection.interest.writes() && !is_behind_file {
                engine.write_large(connection, order, bytes);
            } else {
                engine.carry_out(connection, order, bytes, None);
            }
        });
        self.send_dirty();
        let entry = self.slots.get(slot as usize)?;
        let connection = entry.connection.as_ref()?;
        (entry.generation == generation).then(|| connection.answers.unsent())
    }

    /// What a command names of the owner's memory. Slices are made of that alone: an engine with a thread of its own works while
    /// the owner writes its next commands beside them.
    fn output(&self, start: usize, length: usize) -> Option<&'static [u8]> {
        let (memory, size) = self.memory.output;
        (start <= size && length <= size - start).then(|| {
            // SAFETY: inside the memory, which outlives the engine. Commands are taken, and their bytes sent or copied, in one
            // call, and the owner writes there again only after a call from its own thread.
            unsafe { std::slice::from_raw_parts(memory.add(start), length) }
        })
    }

    /// Hands the commands to their connections. The bytes of most stay where they are. Says whether anything may have to be
    /// sent.
    fn take_commands(&mut self) -> bool {
        let seen = self.outstanding.look();
        if !seen.has_commands() {
            return !self.dirty.is_empty();
        }
        let (commands, length) = self.memory.commands;
        // Perhaps long after the last turn: what happens now is timed from now.
        self.now_ms = sys::now_ms();
        let word = |index: usize| {
            assert!(index < length);
            // SAFETY: inside the memory. The owner writes behind what it has said to be written.
            unsafe { commands.add(index).read() }
        };
        let mut at = seen.taken.max(outstanding::FIRST_COMMAND);
        while at + command::WORDS <= seen.written.min(length) {
            let order = Order {
                flags: word(at + command::ACTION_AND_FLAGS) >> pair::SECOND_SHIFT,
                slot: word(at + command::SLOT),
                generation: word(at + command::GENERATION),
                sequence: word(at + command::SEQUENCE),
            };
            let bytes = self.output(
                word(at + command::OFFSET) as usize,
                word(at + command::LENGTH) as usize,
            );
            at += command::WORDS;
            let Some(bytes) = bytes else {
                continue;
            };
            self.with(order.slot, order.generation, |engine, connection| {
                engine.carry_out(connection, order, bytes, Some(bytes));
            });
        }
        self.outstanding.take_until(seen.written);
        true
    }

    /// `shared` is `bytes` where they may stay where they are for now.
    fn carry_out(
        &mut self,
        connection: &mut Box<Connection>,
        order: Order,
        bytes: &[u8],
        shared: Option<&'static [u8]>,
    ) {
        let raw = order.has(flags::RAW);
        let turn = if raw {
            Turn::Now
        } else {
            connection.answers.turn(order.sequence)
        };
        match turn {
            Turn::Never => return,
            Turn::Later => {
                connection.answers.push_later(
                    order.sequence,
                    bytes,
                    order.wrap(),
                    order.has(flags::CLOSE),
                );
                return;
            }
            Turn::Now => {}
        }
        if connection.is_closing() && !raw {
            return;
        }
        let plain = !order.has(flags::CHUNK | flags::TRAILERS);
        self.mark_dirty(connection);
        match shared {
            Some(_) if plain && connection.answers.unsent() == 0 => {
                connection.answers.shared = shared.filter(|bytes| !bytes.is_empty());
            }
            _ if plain && bytes.is_empty() => {}
            _ => {
                if connection.answers.needs_memory() {
                    let memory = self.lend();
                    connection.answers.give_memory(memory);
                }
                connection.answers.push(bytes, order.wrap());
            }
        }
        self.after_write(connection, order);
    }

    /// Bytes of the engine's own follow, as nothing is in flight. They leave with the turn.
    pub(crate) fn begin_own(&mut self, connection: &mut Connection) {
        if connection.answers.needs_memory() {
            let memory = self.lend();
            connection.answers.give_memory(memory);
        }
        self.mark_dirty(connection);
    }

    fn mark_dirty(&mut self, connection: &Connection) {
        if self.dirty.last() != Some(&connection.whom.slot) {
            self.dirty.push(connection.whom.slot);
        }
    }

    /// Sends from where the bytes lie, and copies what the kernel does not take.
    fn write_large(&mut self, connection: &mut Box<Connection>, order: Order, bytes: &[u8]) {
        if connection.is_closing() && !order.has(flags::RAW) {
            return;
        }
        let has_more = !order.has(flags::END | flags::CLOSE | flags::RAW);
        if has_more {
            self.cork(connection);
        }
        let (size, before, behind) = wrapping(bytes.len(), order.wrap());
        if !connection.answers.lent().is_empty() {
            connection.answers.own();
        }
        let first = match connection.answers.shared {
            Some(bytes) => bytes,
            None => connection.answers.queued(),
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
            let mut rest = self.lend();
            let mut skip = sent;
            for piece in pieces {
                let skipped = skip.min(piece.len());
                skip -= skipped;
                rest.extend_from_slice(&piece[skipped..]);
            }
            connection.answers.replace(rest);
        } else {
            connection.answers.replace(Vec::new());
            if !has_more {
                uncork(connection);
            }
        }
        self.mark_dirty(connection);
        self.after_write(connection, order);
    }

    fn after_write(&mut self, connection: &mut Box<Connection>, order: Order) {
        if !order.has(flags::END | flags::CLOSE) {
            return;
        }
        if order.has(flags::CLOSE) {
            connection.stage = Stage::Closing;
        }
        if order.has(flags::END) && !order.has(flags::RAW) {
            if connection.is_closing() {
                // This was the last response, whatever the requests behind it are answered with.
                connection.answers.close();
            } else if connection.answers.end() {
                connection.stage = Stage::Closing;
            }
            if connection.answers.in_flight() == 0 {
                self.rest(connection);
                if connection.stage == Stage::Ended {
                    connection.stage = Stage::Closing;
                }
            } else if connection.is_blocked() {
                self.stall(connection);
                self.ring();
            }
        }
    }

    pub(crate) fn send_dirty(&mut self) {
        let mut dirty = std::mem::take(&mut self.dirty);
        for slot in dirty.drain(..) {
            let generation = self.slots[slot as usize].generation;
            self.with(slot, generation, |engine, connection| {
                engine.send(connection);
            });
        }
        if self.dirty.is_empty() {
            self.dirty = dirty;
        }
    }

    /// Sends what is unsent. False when the connection is gone.
    pub(crate) fn send(&mut self, connection: &mut Box<Connection>) -> bool {
        let slot = connection.whom.slot;
        let had_to_wait = connection.interest.writes();
        if had_to_wait && connection.answers.shared.is_some() {
            connection.answers.own();
        }
        let mut is_any = false;
        loop {
            match self.send_bytes(connection) {
                Some(was_any) => is_any |= was_any,
                None => return false,
            }
            if !connection.answers.is_file_next() {
                break;
            }
            is_any = true;
            match self.move_file(connection) {
                Moved::Gone => return false,
                Moved::Waits => break,
                Moved::Over => {}
            }
        }
        let unsent = connection.answers.unsent();
        let waits = unsent > 0;
        self.watch_writes(connection, waits);
        self.set_pending(slot, unsent);
        if waits {
            return true;
        }
        if is_any {
            uncork(connection);
        }
        if let Some(memory) = connection.answers.take_memory() {
            self.give_back(memory);
        }
        if had_to_wait {
            if connection.idle_since != 0 {
                connection.idle_since = self.now_ms;
            }
            if connection.owner != Owner::Unaware {
                self.batch.note(connection.whom, Note::Drain);
            }
        }
        if connection.is_blocked() {
            self.stall(connection);
            self.ring();
        }
        if connection.is_closing() {
            self.close_if_sent(connection);
            return false;
        }
        true
    }

    /// Sends what is in memory, up to a part of a file, and says whether there was anything. `None` when the connection is gone.
    fn send_bytes(&mut self, connection: &mut Box<Connection>) -> Option<bool> {
        let shared = connection.answers.shared.take();
        let bytes = shared.unwrap_or_else(|| connection.answers.queued());
        let body = connection.answers.lent();
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
                    let mut rest = self.lend();
                    rest.extend_from_slice(&bytes[sent..]);
                    connection.answers.replace(rest);
                }
                Some(_) => {}
                None => connection.answers.advance(sent),
            }
        }
        Some(is_any)
    }
}
