//! The owner of an engine in tests, in place of the addon's JavaScript.

// Each test file uses a part of it.
#![allow(dead_code)]

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::RawFd;
use std::time::{Duration, Instant};

use http_engine::wire::{answer_count, outcome};
use http_engine::wire::{
    body, body_end, close, command, entry, error, header, kind, lines, outstanding, pair, record,
    request, timeout,
};
use http_engine::{
    Bind, Engine, Fill, ListenOptions, METHODS, Memory, ResponseParts, ServerSettings,
    StoredResponse,
};

pub mod ring;

const RECORDS: usize = 64 * 1024;
const INPUT: usize = 1024 * 1024;
const COMMANDS: usize = outstanding::FIRST_COMMAND + 4096 * command::WORDS;
const OUTPUT: usize = 1024 * 1024;
const PENDING: usize = 64 * 1024;

/// A connection as identified by the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Id {
    pub slot: u32,
    pub generation: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub id: Id,
    pub sequence: u32,
    pub method: &'static str,
    pub url: String,
    pub flags: u32,
    /// `None` if the block was seen before and its bytes were not included.
    pub headers: Option<Vec<(String, String)>>,
    pub body: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Open(Id),
    Request(Request),
    Body(Id, Vec<u8>),
    BodyEnd(Id, Vec<(String, String)>),
    Drain(Id),
    Error(Id, &'static str),
    Timeout(Id, bool),
    Close(Id, u32),
    Drop,
    Stopped,
    End(Id),
    Lines(bool),
    File(Id),
}

pub struct Owner {
    pub engine: Engine,
    pub server: u32,
    pub address: SocketAddr,
    /// Reported events that have not been taken yet.
    pub events: Vec<Event>,
    records: Box<[u32]>,
    input: Box<[u8]>,
    commands: Box<[u32]>,
    output: Box<[u8]>,
    pending: Box<[u32]>,
    used: usize,
    urls: Vec<String>,
}

impl Owner {
    pub fn new(settings: ServerSettings) -> Self {
        let mut records = vec![0; RECORDS].into_boxed_slice();
        let mut input = vec![0; INPUT].into_boxed_slice();
        let mut commands = vec![0; COMMANDS].into_boxed_slice();
        let output = vec![0; OUTPUT].into_boxed_slice();
        let mut pending = vec![0; PENDING].into_boxed_slice();
        let memory = Memory {
            records: (records.as_mut_ptr(), RECORDS),
            input: (input.as_mut_ptr(), INPUT),
            commands: (commands.as_mut_ptr(), COMMANDS),
            output: (output.as_ptr(), OUTPUT),
            pending: (pending.as_mut_ptr(), PENDING),
        };
        // SAFETY: the boxes live in the owner beside the engine, and are dropped after it.
        let mut engine = unsafe { Engine::new(memory) }.expect("an engine");
        let bind = Bind::Ip("127.0.0.1:0".parse().expect("an address"));
        let server = engine
            .listen(&bind, ListenOptions::default(), settings)
            .expect("a port");
        let address = match engine.server_address(server) {
            Some(http_engine::Address::Ip(address)) => address,
            other => panic!("not an IP address: {other:?}"),
        };
        Self {
            engine,
            server,
            address,
            events: Vec::new(),
            records,
            input,
            commands,
            output,
            pending,
            used: 0,
            urls: vec![String::new(); 2048],
        }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).expect("a connection");
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .expect("a timeout");
        stream.set_nodelay(true).expect("no delay");
        stream
    }

    /// Keeps a response.
    pub fn keep(&mut self, fill: Fill) {
        self.engine.open_store(self.server, 64 * 1024 * 1024, false);
        assert_eq!(self.engine.keep(self.server, fill), outcome::KEPT);
    }

    /// Returns the number of requests that the engine has responded to.
    pub fn hits(&mut self) -> u64 {
        self.engine.store_counts(self.server)[answer_count::HITS]
    }

    /// Runs one turn: pending events are reported, without responses.
    pub fn turn(&mut self) {
        self.engine.flush();
        let polled = self.engine.poll();
        if polled.words > 0 {
            self.engine.lock_batch();
            self.read(polled.words);
            self.engine.flush();
            self.engine.unlock_batch();
        }
    }

    /// Runs turns until `found` returns a value from the events.
    pub fn until<T>(&mut self, mut found: impl FnMut(&mut Vec<Event>) -> Option<T>) -> T {
        let start = Instant::now();
        loop {
            if let Some(result) = found(&mut self.events) {
                return result;
            }
            assert!(
                start.elapsed() < Duration::from_secs(30),
                "it never came; there is {:?}",
                self.events
            );
            wait(self.engine.descriptor());
            self.turn();
        }
    }

    /// Returns the next event that `wanted` accepts; those before it are dropped.
    pub fn next<T>(&mut self, wanted: impl Fn(&Event) -> Option<T>) -> T {
        self.until(|events| {
            let place = events.iter().position(|event| wanted(event).is_some())?;
            let result = wanted(&events[place]);
            events.drain(..=place);
            result
        })
    }

    pub fn next_request(&mut self) -> Request {
        self.next(|event| match event {
            Event::Request(request) => Some(request.clone()),
            _ => None,
        })
    }

    /// Writes a command. The bytes leave with the next turn.
    pub fn write(&mut self, id: Id, sequence: u32, flags: u32, bytes: &[u8]) {
        self.write_with(id, sequence, (flags, 0), bytes);
    }

    /// Writes a command with the facts of its response.
    pub fn write_with(&mut self, id: Id, sequence: u32, flags_and_facts: (u32, u32), bytes: &[u8]) {
        let (flags, facts) = flags_and_facts;
        let at = self.commands[outstanding::WRITTEN] as usize;
        if at == outstanding::FIRST_COMMAND {
            self.used = 0;
        }
        assert!(self.used + bytes.len() <= OUTPUT, "a turn is due");
        self.output[self.used..self.used + bytes.len()].copy_from_slice(bytes);
        let words = &mut self.commands[at..at + command::WORDS];
        words[command::ACTION_AND_FLAGS] = command::WRITE | flags << pair::SECOND_SHIFT;
        words[command::SLOT] = id.slot;
        words[command::GENERATION] = id.generation;
        words[command::SEQUENCE] = sequence;
        words[command::OFFSET] = self.used as u32;
        words[command::LENGTH] = bytes.len() as u32;
        words[command::FACTS] = facts;
        self.commands[outstanding::WRITTEN] += command::WORDS as u32;
        self.used += bytes.len();
    }

    /// Locks the batch and returns its first request, so that a test can act before the batch is over.
    pub fn peek(&mut self, words: usize) -> Request {
        self.engine.lock_batch();
        self.read(words);
        self.events
            .iter()
            .find_map(|event| match event {
                Event::Request(request) => Some(request.clone()),
                _ => None,
            })
            .expect("a request")
    }

    pub fn pending(&self, id: Id) -> u32 {
        self.pending[id.slot as usize]
    }

    /// Adds the events of a locked batch.
    pub fn read(&mut self, words: usize) {
        let mut at = 0;
        while at < words {
            let start = self.records[at + record::KIND_AND_LENGTH];
            let length = (start >> pair::SECOND_SHIFT) as usize;
            let event = self.event(at);
            self.events.push(event);
            at += length;
        }
        assert_eq!(at, words, "records end where the batch does");
    }

    fn event(&mut self, at: usize) -> Event {
        let word = |index: usize| self.records[at + index];
        let id = Id {
            slot: word(record::SLOT),
            generation: word(record::GENERATION),
        };
        match word(record::KIND_AND_LENGTH) & pair::FIRST_MASK {
            kind::OPEN => Event::Open(id),
            kind::REQUEST => Event::Request(self.request(at, id)),
            kind::BODY => Event::Body(id, self.bytes(word(body::OFFSET), word(body::LENGTH))),
            kind::BODY_END => {
                let block = word(body_end::BLOCK_OFFSET);
                let count = word(body_end::TRAILER_COUNT);
                Event::BodyEnd(id, self.headers(block, count, at + body_end::TRAILERS))
            }
            kind::DRAIN => Event::Drain(id),
            kind::ERROR => {
                let problem = word(error::PROBLEM) as usize;
                Event::Error(id, http_engine::problem::PROBLEMS[problem].0)
            }
            kind::TIMEOUT => Event::Timeout(id, word(timeout::IS_INACTIVE) == 1),
            kind::CLOSE => Event::Close(id, word(close::ERRNO)),
            kind::DROP => Event::Drop,
            kind::STOPPED => Event::Stopped,
            kind::END => Event::End(id),
            kind::FILE => Event::File(id),
            kind::LINES => Event::Lines(word(lines::ARE_DUE) == 1),
            kind => panic!("a record of kind {kind}"),
        }
    }

    fn request(&mut self, at: usize, id: Id) -> Request {
        let word = |index: usize| self.records[at + index];
        let url_entry = word(request::URL);
        let place = url_entry as usize >> entry::NUMBER_SHIFT;
        let url = if url_entry & entry::IS_KNOWN != 0 {
            self.urls[place].clone()
        } else {
            let bytes = self.bytes(word(request::URL_OFFSET), word(request::URL_LENGTH));
            String::from_utf8(bytes).expect("a URL is ASCII")
        };
        let block = word(request::BLOCK_OFFSET);
        let count = word(request::HEADER_COUNT);
        let headers = (word(request::BLOCK) & entry::IS_KNOWN == 0)
            .then(|| self.headers(block, count, at + request::HEADERS));
        let method_and_flags = word(request::METHOD_AND_FLAGS);
        let request = Request {
            id,
            sequence: word(request::SEQUENCE),
            method: METHODS[(method_and_flags & pair::FIRST_MASK) as usize],
            url: url.clone(),
            flags: method_and_flags >> pair::SECOND_SHIFT,
            headers,
            body: self.bytes(word(request::BODY_OFFSET), word(request::BODY_LENGTH)),
        };
        if url_entry != 0 {
            self.urls[place] = url;
        }
        request
    }

    fn bytes(&self, offset: u32, length: u32) -> Vec<u8> {
        self.input[offset as usize..][..length as usize].to_vec()
    }

    fn headers(&self, offset: u32, count: u32, at: usize) -> Vec<(String, String)> {
        let text = |start: u32, length: u32| {
            let bytes = self.bytes(offset + start, length);
            bytes.iter().map(|byte| *byte as char).collect::<String>()
        };
        (0..count as usize)
            .map(|index| {
                let words = &self.records[at + index * header::WORDS..][..header::WORDS];
                let name_word = words[header::NAME];
                let length = (name_word & !header::LOWER_CASE) >> pair::SECOND_SHIFT;
                let name = text(words[header::NAME_OFFSET], length);
                let known = name_word & pair::FIRST_MASK;
                if known != 0 {
                    let known = http_engine::KNOWN_NAMES[known as usize - 1];
                    assert!(known.eq_ignore_ascii_case(&name), "{known} for {name}");
                    let is_lower = name_word & header::LOWER_CASE != 0;
                    assert_eq!(is_lower, name == name.to_lowercase() && name != known);
                }
                let value = text(words[header::VALUE_OFFSET], words[header::VALUE_LENGTH]);
                (name, value)
            })
            .collect()
    }
}

/// Returns a response that is valid for an hour.
pub fn fill(target: &str, head: &str, body: &[u8]) -> Fill {
    let response = StoredResponse::new(ResponseParts {
        head: head.as_bytes(),
        body,
        status: 200,
        ..ResponseParts::default()
    });
    Fill::anonymous(target, response, 3_600_000)
}

fn wait(fd: RawFd) {
    is_readable(fd, 100);
}

/// Returns true if it is readable, at once or within the timeout in milliseconds.
pub fn is_readable(fd: RawFd, timeout_ms: i32) -> bool {
    let mut poll = libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: one entry, which lives through the call.
    unsafe { libc::poll(&mut poll, 1, timeout_ms) == 1 }
}

/// Reads everything until the server ends its side.
pub fn read_all(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("the end");
    String::from_utf8(bytes).expect("text")
}

/// Reads exactly this many bytes.
pub fn read_exactly(stream: &mut TcpStream, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes).expect("bytes");
    bytes
}

pub fn send(stream: &mut TcpStream, text: &str) {
    stream.write_all(text.as_bytes()).expect("sent");
}

pub fn end(stream: &TcpStream) {
    stream.shutdown(Shutdown::Write).expect("ended");
}
