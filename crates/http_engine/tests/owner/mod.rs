//! The owner of an engine in tests: what JavaScript is in the addon.

// Each test file uses its part of it.
#![allow(dead_code)]

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::RawFd;
use std::time::{Duration, Instant};

use http_engine::{Bind, Engine, ListenOptions, METHODS, Memory, ServerSettings};

const RECORDS: usize = 64 * 1024;
const INPUT: usize = 1024 * 1024;
const COMMANDS: usize = FIRST + 4096 * 6;
/// Where the commands begin.
const FIRST: usize = 5;
const OUTPUT: usize = 1024 * 1024;
const PENDING: usize = 64 * 1024;

/// A connection as the engine names it.
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
    /// `None` when the block was seen before and its bytes did not come along.
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
}

pub struct Owner {
    pub engine: Engine,
    pub server: u32,
    pub address: SocketAddr,
    /// Everything that was told and not asked for yet.
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

    /// One turn: what the kernel has, told and answered by nobody.
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

    /// Turns until `found` finds what it looks for among the events.
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

    /// The next event that `wanted` likes; those before it are dropped.
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
        let at = self.commands[0] as usize;
        if at == FIRST {
            self.used = 0;
        }
        assert!(self.used + bytes.len() <= OUTPUT, "a turn is due");
        self.output[self.used..self.used + bytes.len()].copy_from_slice(bytes);
        let words = [
            1 | flags << 8,
            id.slot,
            id.generation,
            sequence,
            self.used as u32,
            bytes.len() as u32,
        ];
        self.commands[at..at + 6].copy_from_slice(&words);
        self.commands[0] += 6;
        self.used += bytes.len();
    }

    /// Locks the batch and gives its first request, so that a test can act before the batch is over.
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

    /// Adds the events of a batch that is locked.
    pub fn read(&mut self, words: usize) {
        let mut at = 0;
        while at < words {
            let length = (self.records[at] >> 8) as usize;
            let event = self.event(at);
            self.events.push(event);
            at += length;
        }
        assert_eq!(at, words, "records end where the batch does");
    }

    fn event(&mut self, at: usize) -> Event {
        let word = |index: usize| self.records[at + index];
        let id = Id {
            slot: word(1),
            generation: word(2),
        };
        match word(0) & 0xff {
            1 => Event::Open(id),
            2 => Event::Request(self.request(at, id)),
            3 => Event::Body(id, self.bytes(word(5), word(6))),
            4 => Event::BodyEnd(id, self.headers(word(5), word(6), at + 7)),
            5 => Event::Drain(id),
            6 => Event::Error(id, http_engine::problem::PROBLEMS[word(4) as usize].0),
            7 => Event::Timeout(id, word(4) == 1),
            8 => Event::Close(id, word(4)),
            9 => Event::Drop,
            10 => Event::Stopped,
            11 => Event::End(id),
            kind => panic!("a record of kind {kind}"),
        }
    }

    fn request(&mut self, at: usize, id: Id) -> Request {
        let word = |index: usize| self.records[at + index];
        let number = word(6);
        let url = if number & 1 == 1 {
            self.urls[number as usize >> 1].clone()
        } else {
            String::from_utf8(self.bytes(word(7), word(8))).expect("a URL is ASCII")
        };
        let headers = (word(9) & 1 == 0).then(|| self.headers(word(10), word(12), at + 15));
        let request = Request {
            id,
            sequence: word(4),
            method: METHODS[(word(5) & 0xff) as usize],
            url: url.clone(),
            flags: word(5) >> 8,
            headers,
            body: self.bytes(word(13), word(14)),
        };
        if number != 0 {
            self.urls[number as usize >> 1] = url;
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
                let words = &self.records[at + index * 4..][..4];
                let name = text(words[1], (words[0] & !(1 << 31)) >> 8);
                let known = words[0] & 0xff;
                if known != 0 {
                    let known = http_engine::KNOWN_NAMES[known as usize - 1];
                    assert!(known.eq_ignore_ascii_case(&name), "{known} for {name}");
                    let is_lower = words[0] >> 31 == 1;
                    assert_eq!(is_lower, name == name.to_lowercase() && name != known);
                }
                (name, text(words[2], words[3]))
            })
            .collect()
    }
}

fn wait(fd: RawFd) {
    is_readable(fd, 100);
}

/// Whether it is, at once or within so many ms.
pub fn is_readable(fd: RawFd, timeout_ms: i32) -> bool {
    let mut poll = libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: one entry, which lives through the call.
    unsafe { libc::poll(&mut poll, 1, timeout_ms) == 1 }
}

/// Everything until the server ends its side.
pub fn read_all(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("the end");
    String::from_utf8(bytes).expect("text")
}

/// So many bytes.
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
