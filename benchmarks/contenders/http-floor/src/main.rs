//! The floor of a machine: one thread that waits with epoll, reads each connection once and writes the bytes that node:http
//! would send, once for each request it has read. It parses only what it needs to know where a request ends. No server that
//! reads and writes sockets through these system calls can take less CPU, so the others are shown as multiples of it.
//! With the body in `BODY` (`PRODUCT` without one), or 1 MiB in 16 chunks with `CHUNKS=16`.

use std::env;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsRawFd, RawFd};

const READABLE: u32 = 1;
const WRITABLE: u32 = 4;
const ADD: i32 = 1;
const MODIFY: i32 = 3;
const CHUNK_BYTES: usize = 64 * 1024;
/// Larger than the largest request, whose bytes are not kept.
const READ_BYTES: usize = 64 * 1024;

#[repr(C)]
#[cfg_attr(target_arch = "x86_64", repr(packed))]
#[derive(Clone, Copy)]
struct Event {
    events: u32,
    data: u64,
}

extern "C" {
    fn epoll_create1(flags: i32) -> i32;
    fn epoll_ctl(epoll: i32, operation: i32, fd: i32, event: *mut Event) -> i32;
    fn epoll_wait(epoll: i32, events: *mut Event, most: i32, timeout: i32) -> i32;
}

struct Connection {
    stream: TcpStream,
    /// Bytes of the present request that are still to come, once its head has been read.
    missing: usize,
    /// The start of a head that is not complete yet.
    head: Vec<u8>,
    /// The last request that came in one piece.
    last: Vec<u8>,
    /// Responses that are owed, and the bytes of the first of them that have been sent.
    owed: usize,
    sent: usize,
}

fn main() -> io::Result<()> {
    let host = env::var("HOST").unwrap_or_else(|_| "127.0.0.1".into());
    let port = env::var("PORT").unwrap_or_else(|_| "8001".into());
    let response = response();
    let listener = TcpListener::bind(format!("{host}:{port}"))?;
    listener.set_nonblocking(true)?;
    // SAFETY: no pointer is passed.
    let epoll = unsafe { epoll_create1(0) };
    control(epoll, ADD, listener.as_raw_fd(), READABLE);
    let mut connections: Vec<Option<Connection>> = Vec::new();
    let mut events = [Event { events: 0, data: 0 }; 256];
    let mut bytes = vec![0; READ_BYTES];
    loop {
        // SAFETY: the kernel writes at most 256 events into the array of 256.
        let count = unsafe { epoll_wait(epoll, events.as_mut_ptr(), 256, -1) };
        for event in &events[..usize::try_from(count).unwrap_or(0)] {
            let fd = event.data as RawFd;
            if fd == listener.as_raw_fd() {
                accept(epoll, &listener, &mut connections);
            } else if let Some(connection) = &mut connections[fd as usize] {
                if !serve(epoll, connection, &mut bytes, &response).unwrap_or(false) {
                    connections[fd as usize] = None;
                }
            }
        }
    }
}

fn accept(epoll: RawFd, listener: &TcpListener, connections: &mut Vec<Option<Connection>>) {
    while let Ok((stream, _)) = listener.accept() {
        let fd = stream.as_raw_fd();
        if stream.set_nonblocking(true).and(stream.set_nodelay(true)).is_err() {
            continue;
        }
        if connections.len() <= fd as usize {
            connections.resize_with(fd as usize + 1, || None);
        }
        connections[fd as usize] =
            Some(Connection { stream, missing: 0, head: Vec::new(), last: Vec::new(), owed: 0, sent: 0 });
        control(epoll, ADD, fd, READABLE);
    }
}

/// One read, and one write for all requests that it completed. @returns false once the client has left
fn serve(
    epoll: RawFd,
    connection: &mut Connection,
    bytes: &mut [u8],
    response: &[u8],
) -> io::Result<bool> {
    let waited = connection.owed > 0;
    if !waited {
        match connection.stream.read(bytes) {
            Ok(0) => return Ok(false),
            Ok(count) => connection.owed = requests_in(connection, &bytes[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
            Err(error) => return Err(error),
        }
    }
    let blocked = write_owed(connection, response)?;
    if blocked != waited {
        let wanted = if blocked { WRITABLE } else { READABLE };
        control(epoll, MODIFY, connection.stream.as_raw_fd(), wanted);
    }
    Ok(true)
}

/// @returns true while the socket takes no more
fn write_owed(connection: &mut Connection, response: &[u8]) -> io::Result<bool> {
    let joined;
    let (piece, each) = if connection.owed > 1 {
        joined = response.repeat(connection.owed);
        (&joined[..], connection.owed)
    } else {
        (response, 1)
    };
    while connection.owed > 0 {
        match connection.stream.write(&piece[connection.sent..]) {
            Ok(count) => connection.sent += count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                // Whole responses are counted off: the rest begins within one.
                connection.owed -= connection.sent / response.len();
                connection.sent %= response.len();
                return Ok(true);
            }
            Err(error) => return Err(error),
        }
        if connection.sent == piece.len() {
            connection.owed -= each;
            connection.sent = 0;
        }
    }
    Ok(false)
}

/// Requests that end within these bytes. A load repeats its requests, and those like the last are not parsed.
fn requests_in(connection: &mut Connection, bytes: &[u8]) -> usize {
    let Connection { missing, head, last, .. } = connection;
    let started = std::mem::take(head);
    let joined = if started.is_empty() { started } else { [&started, bytes].concat() };
    let mut rest = if joined.is_empty() { bytes } else { &joined };
    let mut count = 0;
    while !rest.is_empty() {
        if *missing > 0 {
            let taken = rest.len().min(*missing);
            rest = &rest[taken..];
            *missing -= taken;
            count += usize::from(*missing == 0);
            continue;
        }
        if !last.is_empty() && rest.starts_with(last) {
            rest = &rest[last.len()..];
            count += 1;
            continue;
        }
        let Some(end) = rest.windows(4).position(|window| window == b"\r\n\r\n") else {
            *head = rest.to_vec();
            break;
        };
        let whole = end + 4 + length_of(&rest[..end]);
        if whole <= rest.len() {
            *last = rest[..whole].to_vec();
        } else {
            *missing = whole - rest.len();
            break;
        }
    }
    count
}

/// Of the body of a request; a GET has none.
fn length_of(head: &[u8]) -> usize {
    if head.starts_with(b"GET") {
        return 0;
    }
    let lines = head.split(|byte| *byte == b'\n');
    let mut lengths = lines.filter_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        line[..colon].eq_ignore_ascii_case(b"content-length").then(|| &line[colon + 1..])
    });
    lengths
        .next()
        .and_then(|value| std::str::from_utf8(value).ok()?.trim().parse().ok())
        .unwrap_or(0)
}

fn response() -> Vec<u8> {
    let common = "Date: Sat, 28 Nov 2026 12:00:00 GMT\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5\r\n";
    if let Some(chunks) = env::var("CHUNKS").ok().and_then(|text| text.parse::<usize>().ok()) {
        let chunk = "redline ".repeat(CHUNK_BYTES / 8);
        let framed = format!("{CHUNK_BYTES:x}\r\n{chunk}\r\n").repeat(chunks);
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n";
        return format!("{head}{common}Transfer-Encoding: chunked\r\n\r\n{framed}0\r\n\r\n").into();
    }
    let body = env::var("BODY").or_else(|_| env::var("PRODUCT")).unwrap_or_default();
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\n";
    format!("{head}Content-Length: {}\r\n{common}\r\n{body}", body.len()).into()
}

fn control(epoll: RawFd, operation: i32, fd: RawFd, events: u32) {
    let mut event = Event { events, data: fd as u64 };
    // SAFETY: the kernel copies the event before it returns.
    unsafe { epoll_ctl(epoll, operation, fd, &mut event) };
}
