//! Mutations of requests for kept responses: an engine with a store accepts no request that one without would not have reported
//! to its owner.

#![cfg(target_os = "linux")]

mod owner;

use std::io::Write;

use http_engine::wire::{answer_count, request_flags};
use http_engine::{ServerSettings, write_flags};
use owner::{Event, Owner, Request, fill};

const ROUNDS: usize = 20_000;

const LINES: &[&str] = &[
    "Host: a\r\n",
    "Connection: close\r\n",
    "Connection: keep-alive\r\n",
    "Content-Length: 0\r\n",
    "Content-Length: 3\r\n\r\nabc",
    "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "Expect: 100-continue\r\n",
    "Connection: upgrade\r\nUpgrade: x\r\n",
    "Range: bytes=0-1\r\n",
    "If-None-Match: *\r\n",
    "Cookie: a=b\r\n",
    "Authorization: a\r\n",
    "X-Long: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n",
    " folded\r\n",
    "\r\n",
    "\n",
    "\0",
    ":",
    "\r\nGET /kept HTTP/1.1\r\nHost: a\r\n",
    "\r\nGET /other HTTP/1.1\r\nHost: a\r\n",
];

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

fn draw(random: &mut Random) -> Vec<u8> {
    const STARTS: &[&str] = &[
        "GET /kept HTTP/1.1\r\nHost: a\r\n",
        "HEAD /kept HTTP/1.1\r\nHost: a\r\n",
        "GET /kept HTTP/1.0\r\n",
        "GET  /kept  HTTP/1.1\r\nHost: a\r\n",
        "POST /kept HTTP/1.1\r\nHost: a\r\n",
    ];
    let mut text = STARTS[random.below(STARTS.len())].to_owned();
    for _ in 0..random.below(4) {
        text += LINES[random.below(LINES.len())];
    }
    text += "\r\n";
    let mut bytes = text.into_bytes();
    if random.below(2) == 0 {
        let at = random.below(bytes.len());
        match random.below(3) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes.insert(at, random.below(256) as u8),
            _ => {
                bytes.remove(at);
            }
        }
    }
    bytes
}

/// Returns the events reported for these bytes, except for the end of the connection. Responds to every request: some requests
/// wait for that.
fn report(owner: &mut Owner, bytes: &[u8]) -> Vec<Event> {
    let mut client = owner.connect();
    client.write_all(bytes).expect("sent");
    let mut heard = Vec::new();
    for _ in 0..6 {
        owner.turn();
        for event in std::mem::take(&mut owner.events) {
            if let Event::Request(Request { id, sequence, .. }) = event {
                owner.write(id, sequence, write_flags::END, b"");
            }
            heard.push(event);
        }
    }
    drop(client);
    owner.engine.close_all(owner.server);
    owner.turn();
    owner.events.clear();
    heard.retain(|event| matches!(event, Event::Request(_) | Event::Error(..)));
    heard
}

/// Returns the parts of a request that do not depend on earlier ones on other connections.
fn known(event: &Event) -> String {
    match event {
        Event::Request(Request {
            sequence,
            method,
            url,
            flags,
            body,
            ..
        }) => format!("{sequence} {method} {url} {flags} {body:?}"),
        Event::Error(_, code) => (*code).to_owned(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_request_that_the_engine_responds_to_would_have_been_reported() {
    let mut bare = Owner::new(ServerSettings::default());
    let mut keeping = Owner::new(ServerSettings::default());
    keeping.keep(fill(
        "/kept",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n",
        b"ok",
    ));
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut hits = 0_u64;
    for _ in 0..ROUNDS {
        let bytes = draw(&mut random);
        let shown = String::from_utf8_lossy(&bytes);
        let reported = report(&mut bare, &bytes);
        let left = report(&mut keeping, &bytes);
        let left: Vec<_> = left.iter().map(known).collect();
        let mut answered = 0;
        let mut expected = Vec::new();
        for event in &reported {
            let name = known(event);
            if left.contains(&name) {
                expected.push(name);
                continue;
            }
            let Event::Request(request) = event else {
                panic!("answered in place of {event:?}: {shown:?}");
            };
            let flags =
                request_flags::BODY_NONE | request_flags::KEEP_ALIVE | request_flags::HTTP_10;
            assert!(matches!(request.method, "GET" | "HEAD"), "{shown:?}");
            assert_eq!(request.url, "/kept", "{shown:?}");
            assert_eq!(request.flags & !flags, 0, "{shown:?}");
            assert_eq!(request.body, b"", "{shown:?}");
            answered += 1;
        }
        assert_eq!(left, expected, "{shown:?}");
        let counts = keeping.engine.store_counts(keeping.server);
        assert_eq!(counts[answer_count::HITS], hits + answered, "{shown:?}");
        hits += answered;
    }
    assert!(hits > ROUNDS as u64 / 5, "{hits} hits");
}
