//! From bytes to records.

use crate::batch::{Kind, REQUEST_WORDS, START_WORDS, request_flags};
use crate::body::{Body, Framing};
use crate::chunked::{Chunked, Found};
use crate::connection::{Connection, Interest};
use crate::diagnose;
use crate::engine::{Engine, READ};
use crate::head::{self, Bounds, Facts};
use crate::header_name::{self, Known};
use crate::kept::Ending;
use crate::method::{self, METHODS};
use crate::problem::{Problem, What};
use crate::seen::Look;
use crate::sys;

/// Requests of one connection that may wait for answers at once.
const PIPELINE: u32 = 64;
/// Unsent bytes above which no further request of a connection is looked at.
const UNSENT: usize = 64 * 1024;
/// A larger body comes in pieces.
const WHOLE_BODY: usize = 256 * 1024;
const LOWER_CASE: u32 = 1 << 31;

/// Why reading goes no further for now.
enum Pause {
    /// More bytes are needed.
    Bytes,
    /// The batch is full.
    Batch,
    /// Answers, a decision or credit is needed.
    Owner,
    /// Something is wrong.
    Failed,
}

impl Engine {
    pub(crate) fn on_readable(&mut self, connection: &mut Box<Connection>) {
        if !connection.wants_read() {
            // Level-triggered: the kernel says it again when it is asked again.
            let write = connection.interest.write;
            self.show_interest(connection, Interest { read: false, write });
            return;
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        let direct = connection.unread.is_empty();
        let result = if direct {
            sys::receive(&connection.fd, &mut scratch)
        } else {
            sys::receive_more(&connection.fd, &mut connection.unread, READ)
        };
        match result {
            Ok(0) => self.on_end(connection),
            Ok(count) => {
                connection.last_active = self.now_ms;
                connection.bytes_read += count as u64;
                if direct {
                    self.understand(connection, &scratch[..count]);
                } else {
                    let unread = std::mem::take(&mut connection.unread);
                    self.understand(connection, &unread);
                    self.give_back(unread);
                }
            }
            Err(libc::EAGAIN) => {}
            Err(errno) => self.release(connection, errno),
        }
        self.scratch = scratch;
    }

    /// Goes on with what was read before.
    pub(crate) fn read_on(&mut self, connection: &mut Box<Connection>) {
        connection.blocked = false;
        connection.stalled = false;
        if !connection.unread.is_empty() {
            let unread = std::mem::take(&mut connection.unread);
            self.understand(connection, &unread);
            self.give_back(unread);
        }
        if connection.wants_read() && !connection.interest.read {
            let write = connection.interest.write;
            self.show_interest(connection, Interest { read: true, write });
        }
    }

    /// Understands as much of `bytes` as can be, and keeps the rest.
    fn understand(&mut self, connection: &mut Box<Connection>, bytes: &[u8]) {
        let mut at = 0;
        connection.blocked = false;
        let pause = loop {
            if connection.failed || connection.closing {
                break Pause::Failed;
            }
            let step = if connection.body.is_some() {
                self.read_body(connection, bytes, &mut at)
            } else {
                self.read_head(connection, bytes, &mut at)
            };
            if let Err(pause) = step {
                break pause;
            }
        };
        match pause {
            Pause::Failed => return,
            Pause::Batch => {
                connection.stalled = true;
                self.stall(connection);
            }
            Pause::Owner => connection.blocked = connection.body.is_none(),
            Pause::Bytes => {}
        }
        if at < bytes.len() {
            if connection.unread.capacity() == 0 {
                connection.unread = self.lend();
            }
            connection.unread.extend_from_slice(&bytes[at..]);
        }
        self.arm(connection);
    }

    fn read_head(
        &mut self,
        connection: &mut Box<Connection>,
        bytes: &[u8],
        at: &mut usize,
    ) -> Result<(), Pause> {
        // Empty lines before a request are ignored (RFC 9112, section 2.2).
        while matches!(bytes.get(*at), Some(b'\r' | b'\n')) {
            *at += 1;
        }
        let rest = &bytes[*at..];
        if rest.is_empty() {
            return Err(Pause::Bytes);
        }
        if connection.last_request {
            let problem = Problem::new(What::AfterClose, *at + 1);
            return self.refuse(connection, problem, bytes);
        }
        if connection.upgrading {
            return Err(Pause::Owner);
        }
        let in_flight = connection.answers.in_flight();
        if in_flight >= PIPELINE || (in_flight > 0 && connection.answers.unsent() > UNSENT) {
            return Err(Pause::Owner);
        }
        let Some(bounds) = head::bounds(rest) else {
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
        let limit = self.settings(connection.whom.server).max_header_size as usize;
        if let Some(problem) = diagnose::head(&bytes[at..], limit) {
            let problem = Problem::new(problem.what, problem.at + at);
            return self.refuse(connection, problem, bytes);
        }
        if connection.head_since == 0 {
            connection.head_since = self.now_ms;
            connection.idle_since = 0;
        }
        Err(Pause::Bytes)
    }

    fn refuse(
        &mut self,
        connection: &mut Box<Connection>,
        problem: Problem,
        bytes: &[u8],
    ) -> Result<(), Pause> {
        self.fail(connection, problem.what, problem.at, bytes);
        Err(Pause::Failed)
    }

    /// A head is complete. Its header block may still be bad.
    fn request(
        &mut self,
        connection: &mut Box<Connection>,
        bytes: &[u8],
        at: &mut usize,
        bounds: Bounds,
    ) -> Result<(), Pause> {
        let limit = self.settings(connection.whom.server).max_header_size as usize;
        let head = &bytes[*at..*at + bounds.end];
        let url = &head[bounds.line.url_start..bounds.line.url_end];
        let block = &head[bounds.line.end..];

        if self.answer_by_itself(connection, head, bounds) {
            *at += bounds.end;
            return Ok(());
        }
        let look = self.blocks.look(block);
        let header_limit = match look {
            Look::Known(..) => 0,
            _ => memchr::memchr_iter(b'\n', block).count(),
        };
        let words = REQUEST_WORDS + header_limit * 4;
        let room = url.len() + block.len();
        if !self.batch.can_hold(words, room) {
            let problem = Problem::new(What::HeaderOverflow, *at + bounds.end);
            return self.refuse(connection, problem, bytes);
        }
        if !self.batch.has_room(words, room) {
            return Err(Pause::Batch);
        }

        let mut count = 0;
        let facts = match look {
            Look::Known(_, facts) => facts,
            _ => match self.read_headers(block, &mut count) {
                Ok(facts) => facts,
                Err(framing) => {
                    let problem = diagnose::head(head, limit)
                        .or(framing)
                        .unwrap_or(Problem::new(
                            // Not reached: what httparse and this crate refuse, `diagnose` refuses.
                            What::HeaderToken,
                            0,
                        ));
                    let problem = Problem::new(problem.what, problem.at + *at);
                    return self.refuse(connection, problem, bytes);
                }
            },
        };
        if facts.counted + url.len() >= limit {
            let problem = diagnose::head(head, limit)
                .unwrap_or(Problem::new(What::HeaderOverflow, bounds.end));
            let problem = Problem::new(problem.what, problem.at + *at);
            return self.refuse(connection, problem, bytes);
        }
        let connect = bounds.line.method == method::CONNECT;
        let takes_over = facts.upgrade || connect;
        if takes_over && (connection.answers.in_flight() > 0 || connection.answers.unsent() > 0) {
            return Err(Pause::Owner);
        }

        let mut flags = flags(&facts, bounds.line.minor, connect);
        let known_block = match look {
            Look::Known(number, _) => number << 1 | 1,
            Look::Again(hash) => self.blocks.enter(hash, block, facts) << 1,
            Look::New => 0,
        };
        let known_block = numbered(known_block, !matches!(look, Look::New));
        let known_url = match self.urls.look(url) {
            Look::Known(number, ()) => numbered(number << 1 | 1, true),
            Look::Again(hash) => numbered(self.urls.enter(hash, url, ()) << 1, true),
            Look::New => 0,
        };
        let url_offset = if known_url & 1 == 0 {
            self.batch.copy(url)
        } else {
            0
        };
        let block_offset = if known_block & 1 == 0 {
            self.batch.copy(block)
        } else {
            0
        };

        let sequence = connection.answers.add_request();
        connection.told = true;
        connection.idle_since = 0;
        connection.request_since = if connection.head_since == 0 {
            self.now_ms
        } else {
            connection.head_since
        };
        connection.head_since = 0;
        if flags & request_flags::KEEP_ALIVE == 0 && !takes_over {
            connection.last_request = true;
        }
        *at += bounds.end;
        let body_offset = self.batch.bytes;
        let (mut problem, mut trailers) = (None, None);
        if takes_over {
            connection.upgrading = true;
            self.upgrading.push(connection.whom);
        }
        match framing(&facts, limit) {
            None => flags |= request_flags::BODY_NONE,
            Some(framing) => {
                let mut body = Body {
                    framing,
                    sequence,
                    discarded: false,
                };
                let done = if takes_over {
                    // What follows may be another protocol.
                    Ok(None)
                } else {
                    self.take_body(&mut body, bytes, at, true)
                };
                match done {
                    Ok(Some(ended)) if ended.is_empty() => flags |= request_flags::BODY_COMPLETE,
                    Ok(Some(ended)) => trailers = Some(ended),
                    Ok(None) => connection.body = Some(body),
                    Err(found) => problem = Some(found),
                }
            }
        }
        let body_length = self.batch.bytes - body_offset;
        let length = REQUEST_WORDS + count * 4;
        self.batch.start(Kind::Request, connection.whom, length);
        let words = [
            sequence,
            u32::from(bounds.line.method) | flags << 8,
            known_url,
            url_offset as u32,
            url.len() as u32,
            known_block,
            block_offset as u32,
            block.len() as u32,
            count as u32,
            body_offset as u32,
            body_length as u32,
        ];
        for (index, word) in words.into_iter().enumerate() {
            self.batch.set(START_WORDS + index, word);
        }
        self.batch.words += length;
        if let Some(problem) = problem {
            return self.refuse(connection, problem, bytes);
        }
        if let Some(block) = trailers {
            self.tell_body_end(connection, sequence, &block);
        }
        if connection.upgrading {
            return Err(Pause::Owner);
        }
        Ok(())
    }

    /// Gives an answer the owner had it keep. Only to a request that is good, has no body and is first in line.
    fn answer_by_itself(
        &mut self,
        connection: &mut Box<Connection>,
        head: &[u8],
        bounds: Bounds,
    ) -> bool {
        let method = METHODS[usize::from(bounds.line.method)];
        let server = self.servers.get(connection.whom.server as usize);
        let Some(Some(server)) = server else {
            return false;
        };
        if server.kept.is_empty()
            || !matches!(method, "GET" | "HEAD")
            || connection.answers.in_flight() > 0
        {
            return false;
        }
        let settings = server.settings;
        let block = &head[bounds.line.end..];
        let Ok(facts) = head::read_block(block, |_, _, _, _| {}) else {
            return false;
        };
        let url = &head[bounds.line.url_start..bounds.line.url_end];
        let flags = flags(&facts, bounds.line.minor, false);
        let is_plain = framing(&facts, 0).is_none()
            && facts.expect.is_none()
            && !facts.upgrade
            && flags & request_flags::HOST_MISSING == 0
            && facts.counted + url.len() < settings.max_header_size as usize;
        if !is_plain {
            return false;
        }
        let ending = Ending {
            keep_alive: flags & request_flags::KEEP_ALIVE != 0,
            timeout_s: settings.keep_alive_shown / 1000,
            is_head: method == "HEAD",
        };
        let mut bytes = self.lend();
        let date = &mut self.date;
        let Some(Some(server)) = self.servers.get(connection.whom.server as usize) else {
            return false;
        };
        if !server
            .kept
            .answer(url, self.now_ms, date, ending, &mut bytes)
        {
            self.give_back(bytes);
            return false;
        }
        connection.head_since = 0;
        connection.idle_since = 0;
        connection.closing = !ending.keep_alive;
        connection.answers.skip_request();
        self.push_own(connection, &bytes);
        self.give_back(bytes);
        self.rest(connection);
        true
    }

    /// Reads a header block, and writes where its headers lie behind the words of the request that is being made.
    fn read_headers(&mut self, block: &[u8], count: &mut usize) -> Result<Facts, Option<Problem>> {
        let batch = &mut self.batch;
        head::read_block(block, |name, name_at, value, value_at| {
            let words = header_words(name, name_at, value, value_at);
            for (index, word) in words.into_iter().enumerate() {
                batch.set(REQUEST_WORDS + *count * 4 + index, word);
            }
            *count += 1;
        })
    }

    fn read_body(
        &mut self,
        connection: &mut Box<Connection>,
        bytes: &[u8],
        at: &mut usize,
    ) -> Result<(), Pause> {
        let Some(mut body) = connection.body.take() else {
            return Ok(());
        };
        if (connection.paused || connection.upgrading) && !body.discarded {
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
                Kind::Body,
                connection.whom,
                &[sequence, offset as u32, length as u32],
            );
        }
        match done {
            Ok(Some(trailers)) => {
                connection.request_since = 0;
                if !discarded {
                    self.tell_body_end(connection, sequence, &trailers);
                }
                if connection.answers.in_flight() == 0 {
                    self.rest(connection);
                }
                Ok(())
            }
            Ok(None) => {
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

    /// Copies what is there of a body into the batch. `Some` at its end, with the block of trailers. When `whole`, it
    /// takes no more than a request may bring along.
    fn take_body(
        &mut self,
        body: &mut Body,
        bytes: &[u8],
        at: &mut usize,
        whole: bool,
    ) -> Result<Option<Vec<u8>>, Problem> {
        let mut room = if body.discarded {
            usize::MAX
        } else {
            self.batch.free_bytes()
        };
        if whole {
            room = room.min(WHOLE_BODY);
        }
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
                Ok((*left == 0).then(Vec::new))
            }
            Framing::Chunked(chunked) => loop {
                let there = &bytes[*at..];
                // A chunk that does not fit is cut: the reader is given no more than there is room for.
                let there = &there[..there.len().min(room)];
                if there.is_empty() {
                    return Ok(None);
                }
                let moved = |problem: Problem| Problem::new(problem.what, problem.at + *at);
                let (taken, found) = chunked.next(there).map_err(moved)?;
                if let Found::Data(length) = found
                    && !body.discarded
                {
                    self.batch.copy(&there[taken - length..taken]);
                    room -= length;
                }
                *at += taken;
                match found {
                    Found::End => return Ok(Some(chunked.trailers().to_vec())),
                    Found::More => return Ok(None),
                    Found::Data(_) => {}
                }
            },
        }
    }

    fn tell_body_end(&mut self, connection: &Connection, sequence: u32, trailers: &[u8]) {
        let mut words = vec![sequence, 0, 0];
        if !trailers.is_empty() {
            let fits = memchr::memchr_iter(b'\n', trailers).count() * 4 + 64;
            if self.batch.has_room(fits, trailers.len()) {
                words[1] = self.batch.copy(trailers) as u32;
                let _ = head::read_trailers(trailers, |name, name_at, value, value_at| {
                    words.extend(header_words(name, name_at, value, value_at));
                    words[2] += 1;
                });
            }
        }
        self.batch.put(Kind::BodyEnd, connection.whom, &words);
    }

    /// Nothing is in flight and no body comes in: the connection is between two requests.
    pub(crate) fn rest(&mut self, connection: &mut Box<Connection>) {
        if connection.body.is_none() && connection.head_since == 0 && !connection.failed {
            connection.idle_since = self.now_ms;
            self.arm(connection);
        }
        if connection.blocked {
            self.stall(connection);
            self.ring();
        }
    }

    /// The client has ended its side.
    fn on_end(&mut self, connection: &mut Box<Connection>) {
        let inside = connection.body.is_some()
            || (!connection.unread.is_empty() && !connection.blocked && !connection.failed);
        connection.ended = true;
        if inside && connection.body.as_ref().is_none_or(|body| !body.discarded) {
            self.fail(connection, What::EarlyEnd, 0, &[]);
        }
        if connection.failed {
            let write = connection.interest.write;
            self.show_interest(connection, Interest { read: false, write });
            return;
        }
        if connection.answers.in_flight() == 0 && connection.answers.unsent() == 0 {
            self.release(connection, 0);
            return;
        }
        let write = connection.interest.write;
        self.show_interest(connection, Interest { read: false, write });
        self.ended.push(connection.whom);
        self.ring();
    }
}

fn numbered(word: u32, is_numbered: bool) -> u32 {
    // Entry numbers count from 1, so that 0 can say "none".
    if is_numbered { word + 2 } else { 0 }
}

fn framing(facts: &Facts, limit: usize) -> Option<Framing> {
    if facts.chunked {
        return Some(Framing::Chunked(Box::new(Chunked::new(limit))));
    }
    match facts.content_length {
        None | Some(0) => None,
        Some(length) => Some(Framing::Length(length)),
    }
}

fn flags(facts: &Facts, minor: u8, connect: bool) -> u32 {
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

fn header_words(name: &[u8], name_at: usize, value: &[u8], value_at: usize) -> [u32; 4] {
    let known = match header_name::find(name) {
        Known::Usual(id) => u32::from(id),
        Known::Lower(id) => u32::from(id) | LOWER_CASE,
        Known::No => 0,
    };
    [
        known | (name.len() as u32) << 8,
        name_at as u32,
        value_at as u32,
        value.len() as u32,
    ]
}
