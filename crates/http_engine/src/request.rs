//! Reading a request: a head becomes a record.

use crate::body::{Body, Extension, Framing, Taken};
use crate::chunked::Chunked;
use crate::connection::{Connection, Input, Wait};
use crate::diagnose;
use crate::engine::Engine;
use crate::head::{self, Bounds, Facts, Limits};
use crate::header_name::{self, Known};
use crate::method;
use crate::problem::{Problem, ProblemKind};
use crate::read::Pause;
use crate::repeat_cache::Lookup;
use crate::wire::{entry, header, kind, pair, request, request_flags};

impl Engine {
    /// Handles a complete head, whose header block may still be invalid.
    pub(crate) fn request(
        &mut self,
        connection: &mut Box<Connection>,
        bytes: &[u8],
        at: &mut usize,
        bounds: Bounds,
    ) -> Result<(), Pause> {
        let limits = self.settings(connection.id.server).limits();
        let head = &bytes[*at..*at + bounds.end];
        let url = &head[bounds.line.url_start..bounds.line.url_end];
        let block = &head[bounds.line.end..];

        if self.serve_from_store(connection, head, bounds) {
            *at += bounds.end;
            return Ok(());
        }
        let lookup = self.blocks.lookup(block);
        let header_limit = match lookup {
            Lookup::Known(..) => 0,
            _ => memchr::memchr_iter(b'\n', block).count(),
        };
        let words = request::HEADERS + header_limit * header::WORDS;
        let room = url.len() + block.len();
        if !self.batch.can_hold(words, room) {
            let problem = Problem::new(ProblemKind::HeaderOverflow, *at + bounds.end);
            return self.refuse_request(connection, problem, bytes);
        }
        if !self.batch.has_room(words, room) {
            return Err(Pause::Batch);
        }

        let mut count = 0;
        let facts = match lookup {
            Lookup::Known(_, facts) => facts,
            _ => match self.read_headers(block, &mut count) {
                Ok(facts) => facts,
                Err(framing) => {
                    let problem = diagnose::head(head, limits)
                        .or(framing)
                        .unwrap_or(Problem::new(
                            // Unreachable: `diagnose` refuses everything that httparse and this crate refuse.
                            ProblemKind::HeaderToken,
                            0,
                        ));
                    let problem = Problem::new(problem.kind, problem.at + *at);
                    return self.refuse_request(connection, problem, bytes);
                }
            },
        };
        if facts.exceed(url.len(), limits) {
            let problem = diagnose::head(head, limits)
                .unwrap_or(Problem::new(ProblemKind::HeaderOverflow, bounds.end));
            let problem = Problem::new(problem.kind, problem.at + *at);
            return self.refuse_request(connection, problem, bytes);
        }
        let connect = bounds.line.method == method::CONNECT;
        let takes_over = facts.upgrade || connect;
        if takes_over && (connection.responses.in_flight() > 0 || connection.responses.unsent() > 0)
        {
            return Err(Pause::Owner);
        }

        let mut flags = flags(&facts, bounds.line.minor, connect);
        let known_block = match lookup {
            Lookup::Known(number, _) => known_entry(number),
            Lookup::Repeated(hash) => new_entry(self.blocks.insert(hash, block, facts)),
            Lookup::New => 0,
        };
        let known_url = match self.urls.lookup(url) {
            Lookup::Known(number, ()) => known_entry(number),
            Lookup::Repeated(hash) => new_entry(self.urls.insert(hash, url, ())),
            Lookup::New => 0,
        };
        let url_offset = if known_url & entry::IS_KNOWN == 0 {
            self.batch.copy(url)
        } else {
            0
        };
        let block_offset = if known_block & entry::IS_KNOWN == 0 {
            self.batch.copy(block)
        } else {
            0
        };

        let sequence = connection.responses.add_request();
        if self.exchanges.is_some() {
            self.observe_request(connection, sequence, head, &bounds.line);
        }
        connection.mark_reported();
        connection.idle_since = 0;
        connection.request_since = if connection.head_since == 0 {
            self.now_ms
        } else {
            connection.head_since
        };
        connection.head_since = 0;
        connection.head = None;
        if flags & request_flags::KEEP_ALIVE == 0 {
            connection.input = Input::LastRequest;
        }
        *at += bounds.end;
        let body_offset = self.batch.bytes;
        let mut problem = None;
        if takes_over {
            connection.wait = Wait::Upgrade;
            self.upgrading.push(connection.id);
        }
        match framing(&facts, limits) {
            None => flags |= request_flags::BODY_NONE,
            Some(framing) => {
                let mut body = Body {
                    framing,
                    sequence,
                    discarded: false,
                    extension: Extension::None,
                };
                let done = if takes_over {
                    // The bytes that follow may be another protocol.
                    Ok(Taken::All)
                } else {
                    self.take_body(&mut body, bytes, at, true)
                };
                match done {
                    Ok(Taken::End(ended)) if ended.is_empty() => {
                        flags |= request_flags::BODY_COMPLETE;
                    }
                    // The end is reported after the request.
                    Ok(Taken::End(trailers)) => {
                        body.framing = Framing::Ended(trailers);
                        connection.body = Some(body);
                    }
                    Ok(Taken::All | Taken::Chunk) => connection.body = Some(body),
                    Err(found) => problem = Some(found),
                }
            }
        }
        let body_length = self.batch.bytes - body_offset;
        let length = request::HEADERS + count * header::WORDS;
        let method_and_flags = u32::from(bounds.line.method) | flags << pair::SECOND_SHIFT;
        let batch = &mut self.batch;
        batch.start(kind::REQUEST, connection.id, length);
        batch.set(request::SEQUENCE, sequence);
        batch.set(request::METHOD_AND_FLAGS, method_and_flags);
        batch.set(request::URL, known_url);
        batch.set(request::URL_OFFSET, url_offset as u32);
        batch.set(request::URL_LENGTH, url.len() as u32);
        batch.set(request::BLOCK, known_block);
        batch.set(request::BLOCK_OFFSET, block_offset as u32);
        batch.set(request::BLOCK_LENGTH, block.len() as u32);
        batch.set(request::HEADER_COUNT, count as u32);
        batch.set(request::BODY_OFFSET, body_offset as u32);
        batch.set(request::BODY_LENGTH, body_length as u32);
        batch.words += length;
        if let Some(problem) = problem {
            return self.refuse(connection, problem, bytes);
        }
        if takes_over {
            return Err(Pause::Owner);
        }
        Ok(())
    }

    /// Reads a header block, and writes the places of its headers after the words of the request being recorded.
    fn read_headers(&mut self, block: &[u8], count: &mut usize) -> Result<Facts, Option<Problem>> {
        let batch = &mut self.batch;
        head::read_block(block, |name, name_at, value, value_at| {
            let words = header_words(name, name_at, value, value_at);
            for (index, word) in words.into_iter().enumerate() {
                batch.set(request::HEADERS + *count * header::WORDS + index, word);
            }
            *count += 1;
        })
    }
}

/// Returns the word of an entry that the owner has.
fn known_entry(number: u32) -> u32 {
    new_entry(number) | entry::IS_KNOWN
}

/// Like [`known_entry`], for an entry that the owner has to create.
fn new_entry(number: u32) -> u32 {
    // Numbers count from 1, so that 0 can mean "none".
    (number + 1) << entry::NUMBER_SHIFT
}

pub(crate) fn framing(facts: &Facts, limits: Limits) -> Option<Framing> {
    if facts.chunked {
        return Some(Framing::Chunked(Box::new(Chunked::new(limits))));
    }
    match facts.content_length {
        None | Some(0) => None,
        Some(length) => Some(Framing::Length(length)),
    }
}

pub(crate) fn flags(facts: &Facts, minor: u8, connect: bool) -> u32 {
    let keep_alive = if minor == 1 {
        !facts.close
    } else {
        facts.keep_alive
    };
    [
        (facts.chunked, request_flags::BODY_CHUNKED),
        (keep_alive, request_flags::KEEP_ALIVE),
        (minor == 0, request_flags::HTTP_10),
        (facts.expect == Some(true), request_flags::EXPECT_CONTINUE),
        (facts.expect == Some(false), request_flags::EXPECT_OTHER),
        (facts.upgrade, request_flags::UPGRADE),
        (connect, request_flags::CONNECT),
        (minor == 1 && !facts.host, request_flags::HOST_MISSING),
    ]
    .into_iter()
    .filter_map(|(is_so, flag)| is_so.then_some(flag))
    .sum()
}

/// Returns the record's words for a header.
pub(crate) fn header_words(
    name: &[u8],
    name_at: usize,
    value: &[u8],
    value_at: usize,
) -> [u32; header::WORDS] {
    let known = match header_name::find(name) {
        Known::Usual(id) => u32::from(id),
        Known::Lower(id) => u32::from(id) | header::LOWER_CASE,
        Known::No => 0,
    };
    let mut words = [0; header::WORDS];
    words[header::NAME] = known | (name.len() as u32) << pair::SECOND_SHIFT;
    words[header::NAME_OFFSET] = name_at as u32;
    words[header::VALUE_OFFSET] = value_at as u32;
    words[header::VALUE_LENGTH] = value.len() as u32;
    words
}
