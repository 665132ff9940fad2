//! File ranges: their place among the bytes of responses, and their ends.

#![cfg(target_os = "linux")]

mod owner;

use std::fs::{self, File};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicU32, Ordering};

use http_engine::{FileRange, ServerSettings, write_flags};
use owner::{Event, Owner, Request, read_exactly, send};

/// Bytes that exceed the buffers of the kernel for a client that does not read.
const LARGE: usize = 24 * 1024 * 1024;

fn content(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at / 7 % 251) as u8).collect()
}

/// Returns an open file without a name.
fn file(bytes: &[u8]) -> File {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("http-engine-files-{}-{number}", std::process::id());
    let path = std::env::temp_dir().join(name);
    fs::write(&path, bytes).expect("a file");
    let file = File::options()
        .read(true)
        .write(true)
        .open(&path)
        .expect("the file");
    fs::remove_file(&path).expect("its end");
    file
}

fn range(file: &File, length: usize, chunk: u32) -> FileRange {
    let facts = file.metadata().expect("its facts");
    FileRange {
        fd: file.as_raw_fd(),
        at: Some(0),
        length: length as u64,
        chunk,
        device: facts.dev(),
        inode: facts.ino(),
    }
}

fn connect_and_request(times: usize) -> (Owner, TcpStream, Vec<Request>) {
    let mut owner = Owner::new(ServerSettings::default());
    let mut client = owner.connect();
    send(
        &mut client,
        &"GET /x HTTP/1.1\r\nHost: a\r\n\r\n".repeat(times),
    );
    let requests = (0..times).map(|_| owner.next_request()).collect();
    (owner, client, requests)
}

fn begin(owner: &mut Owner, request: &Request, range: FileRange) -> Option<u64> {
    let (slot, generation) = (request.id.slot, request.id.generation);
    owner
        .engine
        .send_file(slot, generation, request.sequence, range)
}

fn end(owner: &mut Owner, request: &Request) -> u64 {
    owner
        .engine
        .end_file(request.id.slot, request.id.generation)
}

#[test]
fn what_is_written_later_comes_behind_it_pipelined_responses_too() {
    let (mut owner, mut client, requests) = connect_and_request(2);
    let bytes = content(LARGE);
    let file = file(&bytes);
    let [first, second] = &requests[..] else {
        panic!("two requests");
    };
    owner.write(first.id, first.sequence, 0, b"head");
    assert_eq!(begin(&mut owner, first, range(&file, LARGE, 0)), None);
    owner.write(second.id, second.sequence, write_flags::END, b"second");
    owner.write(first.id, first.sequence, write_flags::END, b"tail");
    owner.engine.flush();
    let reader =
        std::thread::spawn(move || read_exactly(&mut client, "headtailsecond".len() + LARGE));
    let reported = owner.next(|event| match event {
        Event::File(id) => Some(*id),
        _ => None,
    });
    assert_eq!(reported, first.id);
    assert_eq!(end(&mut owner, first), LARGE as u64);
    while !reader.is_finished() {
        owner.turn();
    }
    let all = reader.join().expect("the responses");
    assert_eq!(&all[..4], b"head");
    assert!(all[4..4 + LARGE] == bytes[..]);
    assert_eq!(&all[4 + LARGE..], b"tailsecond");
}

#[test]
fn one_that_is_ended_has_left_as_far_as_it_says() {
    let (mut owner, mut client, requests) = connect_and_request(1);
    let bytes = content(LARGE);
    let file = file(&bytes);
    let request = &requests[0];
    assert_eq!(begin(&mut owner, request, range(&file, LARGE, 0)), None);
    let sent = end(&mut owner, request) as usize;
    assert!(sent < LARGE);
    owner.write(request.id, request.sequence, write_flags::END, b"tail");
    owner.engine.flush();
    let all = read_exactly(&mut client, sent + 4);
    assert!(all[..sent] == bytes[..sent]);
    assert_eq!(&all[sent..], b"tail");
    assert_eq!(end(&mut owner, request), 0);
}

#[test]
fn chunks_are_complete_when_it_is_ended_or_its_file_shrinks() {
    let (mut owner, mut client, requests) = connect_and_request(1);
    let bytes = content(LARGE);
    let file = file(&bytes);
    let request = &requests[0];
    assert_eq!(
        begin(&mut owner, request, range(&file, LARGE, 65_536)),
        None
    );
    file.set_len(0).expect("a shorter file");
    let reader = std::thread::spawn(move || {
        let mut body = Vec::new();
        loop {
            let mut line = Vec::new();
            while !line.ends_with(b"\r\n") {
                line.extend(read_exactly(&mut client, 1));
            }
            let text = String::from_utf8_lossy(&line[..line.len() - 2]).into_owned();
            let size = usize::from_str_radix(&text, 16).expect("a size");
            body.extend(read_exactly(&mut client, size));
            assert_eq!(read_exactly(&mut client, 2), b"\r\n");
            if size == 0 {
                return body;
            }
            assert_eq!(size, 65_536);
        }
    });
    owner.next(|event| matches!(event, Event::File(_)).then_some(()));
    let sent = end(&mut owner, request) as usize;
    assert!(sent > 0 && sent < LARGE);
    let last = write_flags::CHUNK | write_flags::END;
    owner.write(request.id, request.sequence, last, b"");
    while !reader.is_finished() {
        owner.turn();
    }
    assert_eq!(reader.join().expect("the chunks").len(), sent);
}

#[test]
fn how_far_it_came_is_known_when_the_connection_is_gone() {
    let (mut owner, client, requests) = connect_and_request(1);
    let file = file(&content(LARGE));
    let request = &requests[0];
    assert_eq!(begin(&mut owner, request, range(&file, LARGE, 0)), None);
    drop(client);
    owner.next(|event| matches!(event, Event::Close(..)).then_some(()));
    assert!(end(&mut owner, request) > 0);
    assert_eq!(end(&mut owner, request), 0);
    assert_eq!(begin(&mut owner, request, range(&file, LARGE, 0)), Some(0));
}
