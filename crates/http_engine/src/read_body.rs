//! Reading a body: it becomes records, or part of its request's record.

use crate::body::{Body, Framing, Taken};
use crate::chunked::Found;
use crate::connection::{Connection, OwnerState, Wait};
use crate::engine::Engine;
use crate::head;
use crate::problem::{Problem, ProblemKind};
use crate::read::Pause;
use crate::request::header_words;
use crate::wire::{body, body_end, header, kind};

/// Bodies larger than this, in bytes, are reported in pieces.
const MAX_WHOLE_BODY: usize = 256 * 1024;

impl Engine {
    pub(crate) fn read_body(
        &mut self,
        connection: &mut Box<Connection>,
        bytes: &[u8],
        at: &mut usize,
    ) -> Result<(), Pause> {
        let Some(mut body) = connection.body.take() else {
            return Ok(());
        };
        if (connection.owner == OwnerState::Paused || connection.wait == Wait::Upgrade)
            && !body.discarded
        {
            connection.body = Some(body);
            return Err(Pause::Owner);
        }
        if !body.discarded && !self.batch.has_room(64, 1) {
            connection.body = Some(body);
            return Err(Pause::Batch);
        }
        let sequence = body.sequence;
        let discarded = body.discarded;
        let offset = self.batch.bytes;
        let before = *at;
        let done = self.take_body(&mut body, bytes, at, false);
        let length = self.batch.bytes - offset;
        if length > 0 {
            self.batch.put(
                kind::BODY,
                connection.id,
                &[
                    (body::SEQUENCE, sequence),
                    (body::OFFSET, offset as u32),
                    (body::LENGTH, length as u32),
                ],
            );
        }
        match done {
            Ok(Taken::End(trailers)) => {
                let words = trailer_words(&trailers);
                if discarded || trailers.is_empty() {
                    // Nothing that needs room.
                } else if !self.batch.can_hold(words, trailers.len()) {
                    let problem = Problem::new(ProblemKind::HeaderOverflow, *at);
                    return self.refuse(connection, problem, bytes);
                } else if !self.batch.has_room(words, trailers.len()) {
                    body.framing = Framing::Ended(trailers);
                    connection.body = Some(body);
                    return Err(Pause::Batch);
                }
                connection.request_since = 0;
                if !discarded {
                    self.report_body_end(connection, sequence, &trailers);
                }
                if connection.responses.in_flight() == 0 {
                    self.on_idle(connection);
                }
                Ok(())
            }
            Ok(Taken::Chunk) => {
                connection.body = Some(body);
                Ok(())
            }
            Ok(Taken::All) => {
                connection.body = Some(body);
                if *at == bytes.len() {
                    Err(Pause::Bytes)
                } else if *at == before || !discarded {
                    Err(Pause::Batch)
                } else {
                    Ok(())
                }
            }
            Err(problem) => self.refuse(connection, problem, bytes),
        }
    }

    /// Copies the available bytes of a body into the batch, of a chunked one at most the current chunk. If `whole`, takes no more
    /// than fits in the record of a request.
    pub(crate) fn take_body(
        &mut self,
        body: &mut Body,
        bytes: &[u8],
        at: &mut usize,
        whole: bool,
    ) -> Result<Taken, Problem> {
        let mut room = if body.discarded {
            usize::MAX
        } else {
            self.batch.free_bytes()
        };
        if whole {
            room = room.min(MAX_WHOLE_BODY);
        }
        let mut has_data = false;
        match &mut body.framing {
            Framing::Length(left) => {
                let there = bytes.len() - *at;
                let length = there
                    .min(room)
                    .min(usize::try_from(*left).unwrap_or(usize::MAX));
                if !body.discarded {
                    self.batch.copy(&bytes[*at..*at + length]);
                }
                *at += length;
                *left -= length as u64;
                Ok(match *left {
                    0 => Taken::End(Vec::new()),
                    _ => Taken::All,
                })
            }
            Framing::Chunked(chunked) => loop {
                let there = &bytes[*at..];
                // A chunk that does not fit is cut: the reader receives no more than there is room for.
                let there = &there[..there.len().min(room)];
                if there.is_empty() {
                    return Ok(Taken::All);
                }
                let moved = |problem: Problem| Problem::new(problem.kind, problem.at + *at);
                let (taken, found) = chunked.next(there).map_err(moved)?;
                if let Found::Data(length) = found
                    && !body.discarded
                {
                    self.batch.copy(&there[taken - length..taken]);
                    room -= length;
                    has_data = true;
                }
                *at += taken;
                match found {
                    Found::End => return Ok(Taken::End(chunked.trailers().to_vec())),
                    Found::More => return Ok(Taken::All),
                    Found::Chunk if has_data => return Ok(Taken::Chunk),
                    Found::Chunk | Found::Data(_) => {}
                }
            },
            Framing::Ended(trailers) => Ok(Taken::End(std::mem::take(trailers))),
        }
    }

    /// Reports the end of a body. The batch has room for the trailers.
    fn report_body_end(&mut self, connection: &Connection, sequence: u32, trailers: &[u8]) {
        let mut offset = 0;
        let mut count = 0;
        let batch = &mut self.batch;
        if !trailers.is_empty() {
            offset = batch.copy(trailers);
            let _ = head::read_trailers(trailers, |name, name_at, value, value_at| {
                let at = body_end::TRAILERS + count * header::WORDS;
                let words = header_words(name, name_at, value, value_at);
                for (index, word) in words.into_iter().enumerate() {
                    batch.set(at + index, word);
                }
                count += 1;
            });
        }
        let length = body_end::TRAILERS + count * header::WORDS;
        batch.start(kind::BODY_END, connection.id, length);
        batch.set(body_end::SEQUENCE, sequence);
        batch.set(body_end::BLOCK_OFFSET, offset as u32);
        batch.set(body_end::TRAILER_COUNT, count as u32);
        batch.words += length;
    }
}

/// Returns the max words of the record that reports the end.
fn trailer_words(trailers: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', trailers).count() * header::WORDS + 64
}
