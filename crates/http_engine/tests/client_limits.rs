//! Limits on the memory that one client can occupy, and on its effect on others.

#![cfg(target_os = "linux")]

mod owner;

use std::io::Write;
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use http_engine::{ServerSettings, SettingFlags, write_flags};
use owner::{Event, Id, Owner, fill, read_all, read_exactly, send};

const END: u32 = write_flags::END;
const CLOSE: u32 = write_flags::CLOSE;
const RAW: u32 = write_flags::RAW;
const GET: &str = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
const KIB: usize = 1024;

/// Sends from a thread of its own: the server may take less than everything.
fn send_on(client: &TcpStream, text: Vec<u8>) -> thread::JoinHandle<()> {
    let mut client = client.try_clone().expect("a copy");
    thread::spawn(move || drop(client.write_all(&text)))
}

fn error(owner: &mut Owner) -> (Id, &'static str) {
    owner.next(|event| match event {
        Event::Error(id, code) => Some((*id, *code)),
        _ => None,
    })
}

/// Ends a faulty connection, and checks that another one is served.
fn others_are_served(owner: &mut Owner, id: Id) {
    owner.write(id, 0, RAW | CLOSE, b"no");
    owner.turn();
    let mut client = owner.connect();
    send(&mut client, GET);
    let request = owner.next_request();
    owner.write(request.id, 0, END, b"yes");
    owner.turn();
    assert_eq!(read_exactly(&mut client, 3), b"yes");
}

/// Checks that `text` is refused for the length of its headers, and that the server still works.
fn too_long(settings: ServerSettings, text: Vec<u8>) {
    let mut owner = Owner::new(settings);
    let client = owner.connect();
    let sender = send_on(&client, text);
    let (id, code) = error(&mut owner);
    assert_eq!(code, "HPE_HEADER_OVERFLOW");
    others_are_served(&mut owner, id);
    drop(client);
    sender.join().expect("sent or refused");
}

/// Returns 2 MiB: a start, followed by one repeated byte.
fn padded(start: &str, byte: u8) -> Vec<u8> {
    let mut text = start.as_bytes().to_vec();
    text.resize(2048 * KIB, byte);
    text
}

#[test]
fn white_space_that_does_not_end_is_a_head_too_long() {
    for start in ["GET", "GET / HTTP/1.1\r\nHost: a\r\nx:"] {
        too_long(ServerSettings::default(), padded(start, b' '));
    }
}

#[test]
fn white_space_that_does_not_end_makes_trailers_too_long() {
    let start = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nx:";
    too_long(ServerSettings::default(), padded(start, b' '));
}

#[test]
fn a_long_head_that_is_bad_leaves_the_others_alone() {
    // The error is reported with all of its bytes, and they must fit.
    let settings = ServerSettings {
        max_header_size: 8 << 20,
        ..ServerSettings::default()
    };
    let mut head = padded("GET / HTTP/1.1\r\nHost: a\r\nx: ", b'y');
    head.push(0);
    too_long(settings, head);
}

#[test]
fn kept_responses_wait_for_a_client_that_does_not_read() {
    let mut owner = Owner::new(ServerSettings {
        flags: SettingFlags {
            announce: true,
            ..SettingFlags::default()
        },
        ..ServerSettings::default()
    });
    let body = vec![b'k'; 64 * KIB];
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n", body.len());
    owner.keep(fill("/x", &head, &body));
    let mut client = owner.connect();
    let requests = 1000;
    send(&mut client, &GET.repeat(requests));
    let id = owner.next(|event| match event {
        Event::Open(id) => Some(*id),
        _ => None,
    });
    owner.until(|_| Some(()));
    for _ in 0..20 {
        owner.turn();
        assert!(
            owner.pending(id) < 256 * KIB as u32,
            "{}",
            owner.pending(id)
        );
    }
    // All of them arrive once it reads.
    let marker = format!("\r\n\r\n{}", String::from_utf8(body).expect("text"));
    send(
        &mut client,
        "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    );
    let reader = thread::spawn(move || read_all(&mut client));
    while !reader.is_finished() {
        owner.turn();
        thread::yield_now();
    }
    let text = reader.join().expect("read");
    assert_eq!(text.matches(&marker).count(), requests + 1);
}

#[test]
fn a_client_that_takes_its_response_slowly_is_not_idle() {
    const LENGTH: usize = 16 << 20;
    let keep_alive_timeout = 20;
    let mut owner = Owner::new(ServerSettings {
        keep_alive_timeout,
        ..ServerSettings::default()
    });
    let mut client = owner.connect();
    send(&mut client, GET);
    let id = owner.next_request().id;
    let body = vec![b'y'; LENGTH];
    owner.engine.write(id.slot, id.generation, 0, END, 0, &body);
    let begun = Instant::now();
    while begun.elapsed() < 10 * Duration::from_millis(keep_alive_timeout.into()) {
        owner.turn();
        assert_eq!(owner.events, []);
        thread::sleep(Duration::from_millis(1));
    }
    let reader = thread::spawn(move || (read_exactly(&mut client, LENGTH).len(), client));
    owner.next(|event| matches!(event, Event::Drain(_)).then_some(()));
    // From now on it is idle.
    let inactive = owner.next(|event| match event {
        Event::Timeout(_, inactive) => Some(*inactive),
        _ => None,
    });
    assert!(!inactive);
    assert_eq!(reader.join().expect("read").0, LENGTH);
}

#[test]
fn a_client_that_takes_nothing_is_inactive() {
    let mut owner = Owner::new(ServerSettings {
        keep_alive_timeout: 60_000,
        socket_timeout: 30,
        ..ServerSettings::default()
    });
    let mut client = owner.connect();
    send(&mut client, GET);
    let id = owner.next_request().id;
    owner
        .engine
        .write(id.slot, id.generation, 0, END, 0, &vec![b'y'; 16 << 20]);
    let inactive = owner.next(|event| match event {
        Event::Timeout(_, inactive) => Some(*inactive),
        _ => None,
    });
    assert!(inactive);
}

#[test]
fn trailers_come_however_full_the_batch_is() {
    // 29 of these fill the batch up to where the body of another one fits, and its trailers do not.
    const CLIENTS: usize = 40;
    let mut owner = Owner::new(ServerSettings::default());
    let body = "x".repeat(20_000);
    let trailer = "y".repeat(15_000);
    let text = format!(
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\nSum: {trailer}\r\n\r\n",
        body.len()
    );
    let clients: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let mut client = owner.connect();
            send(&mut client, &text);
            client
        })
        .collect();
    for _ in 0..CLIENTS {
        let trailers = owner.next(|event| match event {
            Event::BodyEnd(_, trailers) => Some(trailers.clone()),
            _ => None,
        });
        assert!(trailers == [("Sum".into(), trailer.clone())]);
    }
    drop(clients);
}
