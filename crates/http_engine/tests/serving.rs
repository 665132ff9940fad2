//! Requests, bodies and responses on real sockets.

#![cfg(target_os = "linux")]

mod owner;

use http_engine::wire::request_flags::{BODY_COMPLETE, BODY_NONE, KEEP_ALIVE, UPGRADE};
use http_engine::{ServerSettings, SettingFlags, write_flags};
use owner::{Event, Owner, end, read_all, read_exactly, send};

const CHUNK: u32 = write_flags::CHUNK;
const END: u32 = write_flags::END;
const CLOSE: u32 = write_flags::CLOSE;
const GET: &str = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";

fn owner() -> Owner {
    Owner::new(ServerSettings::default())
}

#[test]
fn a_request_is_reported_and_its_response_sent() {
    let mut owner = owner();
    let mut client = owner.connect();
    send(
        &mut client,
        "GET /a?b=c HTTP/1.1\r\nHost: me\r\nx-Own: 1 \r\n\r\n",
    );
    let request = owner.next_request();
    assert_eq!((request.method, request.url.as_str()), ("GET", "/a?b=c"));
    assert_eq!(request.flags, BODY_NONE | KEEP_ALIVE);
    let headers = [("Host", "me"), ("x-Own", "1")].map(|(a, b)| (a.into(), b.into()));
    assert_eq!(request.headers.as_deref(), Some(&headers[..]));
    owner.write(request.id, 0, END, b"answer");
    owner.turn();
    assert_eq!(read_exactly(&mut client, 6), b"answer");
}

#[test]
fn what_repeats_crosses_as_a_number() {
    let mut owner = owner();
    let mut client = owner.connect();
    let mut seen = Vec::new();
    for sequence in 0..4 {
        send(&mut client, GET);
        let request = owner.next_request();
        assert_eq!(request.url, "/x");
        seen.push(request.headers.is_some());
        owner.write(request.id, sequence, END, b"ok");
        owner.turn();
        read_exactly(&mut client, 2);
    }
    assert_eq!(seen, [true, true, false, false]);
}

#[test]
fn a_head_may_come_byte_by_byte() {
    let mut owner = owner();
    let mut client = owner.connect();
    for byte in GET.chars() {
        send(&mut client, &byte.to_string());
        owner.turn();
    }
    assert_eq!(owner.next_request().url, "/x");
}

/// The kernel ends a read at such a byte, and leaves it out of the stream, as for Node.
#[test]
fn an_urgent_byte_holds_back_nothing() {
    use std::os::fd::AsRawFd;
    let mut owner = owner();
    let mut client = owner.connect();
    for sequence in 0..3 {
        let (before, behind) = GET.split_at(sequence * 10);
        if !before.is_empty() {
            send(&mut client, before);
            owner.turn();
        }
        // SAFETY: one byte that outlives the call.
        let sent =
            unsafe { libc::send(client.as_raw_fd(), b"!".as_ptr().cast(), 1, libc::MSG_OOB) };
        assert_eq!(sent, 1);
        send(&mut client, behind);
        let request = owner.next_request();
        assert_eq!(request.url, "/x");
        owner.write(request.id, sequence as u32, END, b"ok");
        owner.turn();
        assert_eq!(read_exactly(&mut client, 2), b"ok");
    }
}

#[test]
fn a_small_body_comes_with_its_request() {
    let mut owner = owner();
    let mut client = owner.connect();
    send(
        &mut client,
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
    );
    let request = owner.next_request();
    assert_eq!(request.flags & (BODY_COMPLETE | BODY_NONE), BODY_COMPLETE);
    assert_eq!(request.body, b"abc");
}

#[test]
fn each_chunk_is_reported_and_so_are_trailers() {
    let mut owner = owner();
    let mut client = owner.connect();
    let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    send(
        &mut client,
        &format!("{head}3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nSum: 5\r\n\r\n"),
    );
    let request = owner.next_request();
    assert_eq!(request.body, b"abc");
    assert_eq!(request.flags & BODY_COMPLETE, 0);
    let second = owner.next(|event| match event {
        Event::Body(_, bytes) => Some(bytes.clone()),
        _ => None,
    });
    assert_eq!(second, b"de");
    let trailers = owner.next(|event| match event {
        Event::BodyEnd(_, trailers) => Some(trailers.clone()),
        _ => None,
    });
    assert_eq!(trailers, [("Sum".into(), "5".into())]);
}

#[test]
fn a_large_body_comes_in_pieces_and_stops_when_paused() {
    const LENGTH: usize = 4 * 1024 * 1024;
    let mut owner = owner();
    let mut client = owner.connect();
    send(
        &mut client,
        &format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {LENGTH}\r\n\r\n"),
    );
    let sender = std::thread::spawn(move || {
        send(&mut client, &"x".repeat(LENGTH));
        client
    });
    let request = owner.next_request();
    let id = request.id;
    owner.engine.pause(id.slot, id.generation);
    // A piece that was read before the pause may still come; after that the number of reported bytes stays the same.
    for _ in 0..50 {
        owner.turn();
    }
    let reported = |owner: &Owner| -> usize {
        let length = |event: &Event| match event {
            Event::Body(_, bytes) => bytes.len(),
            _ => 0,
        };
        owner.events.iter().map(length).sum()
    };
    let paused = reported(&owner);
    assert!(paused < LENGTH / 2, "{paused}");
    owner.engine.resume(id.slot, id.generation);
    let mut total = request.body.len();
    owner.until(|events| {
        for event in events.drain(..) {
            match event {
                Event::Body(_, bytes) => total += bytes.len(),
                Event::BodyEnd(..) => return Some(()),
                _ => {}
            }
        }
        None
    });
    assert_eq!(total, LENGTH);
    owner.write(id, 0, END, b"done");
    owner.turn();
    assert_eq!(read_exactly(&mut sender.join().expect("sent"), 4), b"done");
}

#[test]
fn a_body_nobody_wants_is_read_without_a_report() {
    let mut owner = owner();
    let mut client = owner.connect();
    send(
        &mut client,
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n",
    );
    let request = owner.next_request();
    owner.write(request.id, 0, END, b"no");
    owner.turn();
    owner
        .engine
        .discard_body(request.id.slot, request.id.generation);
    send(&mut client, &"x".repeat(200_000));
    send(&mut client, GET);
    let second = owner.until(|events| {
        assert!(!events.iter().any(|event| matches!(event, Event::Body(..))));
        events.iter().find_map(|event| match event {
            Event::Request(request) => Some(request.clone()),
            _ => None,
        })
    });
    assert_eq!(second.sequence, 1);
}

#[test]
fn responses_to_a_pipeline_are_in_order() {
    let mut owner = owner();
    let mut client = owner.connect();
    send(&mut client, &GET.repeat(3));
    let requests: Vec<_> = (0..3).map(|_| owner.next_request()).collect();
    let id = requests[0].id;
    owner.write(id, 2, END, b"three");
    owner.write(id, 1, END, b"two");
    owner.turn();
    owner.write(id, 0, 0, b"o");
    owner.write(id, 0, END, b"ne");
    owner.turn();
    assert_eq!(read_exactly(&mut client, 11), b"onetwothree");
}

#[test]
fn a_long_pipeline_waits_for_its_responses() {
    let mut owner = owner();
    let mut client = owner.connect();
    send(&mut client, &GET.repeat(200));
    let mut answered = 0;
    let mut max = 0;
    while answered < 200 {
        let reported: Vec<_> = owner.until(|events| {
            let reported: Vec<_> = events
                .drain(..)
                .filter_map(|event| match event {
                    Event::Request(request) => Some(request),
                    _ => None,
                })
                .collect();
            (!reported.is_empty()).then_some(reported)
        });
        max = max.max(reported.len());
        for request in reported {
            owner.write(request.id, request.sequence, END, b"k");
            answered += 1;
        }
        owner.turn();
    }
    assert!(max <= 64, "{max}");
    assert_eq!(read_exactly(&mut client, 200), vec![b'k'; 200]);
}

#[test]
fn a_response_larger_than_the_socket_drains() {
    const LENGTH: usize = 8 * 1024 * 1024;
    let mut owner = owner();
    let mut client = owner.connect();
    send(&mut client, GET);
    let request = owner.next_request();
    let body = vec![b'y'; LENGTH];
    let id = request.id;
    let unsent = owner.engine.write(id.slot, id.generation, 0, END, 0, &body);
    assert!(unsent.is_some_and(|unsent| unsent > 0));
    assert!(owner.pending(id) > 0);
    let reader = std::thread::spawn(move || read_exactly(&mut client, LENGTH));
    owner.next(|event| matches!(event, Event::Drain(_)).then_some(()));
    assert_eq!(owner.pending(id), 0);
    assert!(reader.join().expect("read") == body);
}

#[test]
fn chunked_responses_and_raw_bytes_keep_their_order() {
    let mut owner = owner();
    let mut client = owner.connect();
    send(&mut client, GET);
    let id = owner.next_request().id;
    owner.write(id, 0, 0, b"HEAD\r\n");
    owner.write(id, 0, CHUNK, b"abc");
    let large = vec![b'z'; 0x8000];
    owner
        .engine
        .write(id.slot, id.generation, 0, CHUNK, 0, &large);
    owner.write(id, 0, CHUNK | END | CLOSE, b"");
    owner.turn();
    let text = read_all(&mut client);
    let expected = format!(
        "HEAD\r\n3\r\nabc\r\n8000\r\n{}\r\n0\r\n\r\n",
        "z".repeat(0x8000)
    );
    assert!(text == expected, "{}", &text[..40]);
}

#[test]
fn what_comes_behind_bad_input_is_refused_for_the_same_reason() {
    let mut owner = owner();
    let mut client = owner.connect();
    send(&mut client, "GET / HTTP/1.1\r\nHost: a\nX: y\r\n\r\n");
    let error = |owner: &mut Owner| {
        owner.next(|event| match event {
            Event::Error(id, code) => Some((*id, *code)),
            _ => None,
        })
    };
    let (id, code) = error(&mut owner);
    assert_eq!(code, "HPE_CR_EXPECTED");
    send(&mut client, GET);
    assert_eq!(error(&mut owner), (id, code));
    assert_eq!(owner.events, []);
    owner.engine.discard_body(id.slot, id.generation);
    send(&mut client, GET);
    owner.turn();
    assert_eq!(owner.events, []);
    owner.write(id, 0, write_flags::RAW | CLOSE, b"400");
    owner.turn();
    assert_eq!(read_all(&mut client), "400");
    assert_eq!(
        owner.next(|event| matches!(event, Event::Close(..)).then(|| event.clone())),
        Event::Close(id, 0)
    );
}

#[test]
fn responses_to_a_dead_connection_go_nowhere() {
    let mut owner = owner();
    let mut first = owner.connect();
    send(&mut first, GET);
    let dead = owner.next_request();
    drop(first);
    owner.next(|event| matches!(event, Event::Close(..)).then_some(()));
    let mut second = owner.connect();
    send(&mut second, GET);
    let alive = owner.next_request();
    assert_eq!(alive.id.slot, dead.id.slot, "the slot is used again");
    owner.write(dead.id, 0, END, b"ghost");
    owner.write(alive.id, 0, END | CLOSE, b"alive");
    owner.turn();
    assert_eq!(read_all(&mut second), "alive");
}

#[test]
fn a_client_that_ends_its_side_gets_responses_made_in_time() {
    let mut owner = owner();
    let mut client = owner.connect();
    send(&mut client, GET);
    end(&client);
    let id = owner.next_request().id;
    owner.write(id, 0, END, b"answer");
    owner.next(|event| matches!(event, Event::Close(..)).then_some(()));
    assert_eq!(read_all(&mut client), "answer");
}

#[test]
fn a_half_open_client_gets_its_response_later() {
    let settings = ServerSettings {
        flags: SettingFlags {
            allow_half_open: true,
            ..SettingFlags::default()
        },
        ..ServerSettings::default()
    };
    let mut owner = Owner::new(settings);
    let mut client = owner.connect();
    send(&mut client, GET);
    end(&client);
    let id = owner.next_request().id;
    owner.next(|event| matches!(event, Event::End(_)).then_some(()));
    owner.write(id, 0, END, b"late");
    owner.turn();
    assert_eq!(read_all(&mut client), "late");
}

#[test]
fn an_upgrade_gives_the_descriptor_and_the_bytes_behind_the_head() {
    use std::io::{Read, Write};
    let mut owner = owner();
    let mut client = owner.connect();
    send(
        &mut client,
        "GET /up HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nhello",
    );
    // Decided while the batch is read, as in JavaScript.
    owner.engine.flush();
    let request = loop {
        let polled = owner.engine.poll();
        if polled.words > 0 {
            break owner.peek(polled.words);
        }
    };
    assert_eq!(request.flags & UPGRADE, UPGRADE);
    let id = request.id;
    let detached = owner
        .engine
        .detach(id.slot, id.generation)
        .expect("a descriptor");
    owner.engine.unlock_batch();
    assert_eq!(detached.unread, b"hello");
    assert_eq!(owner.engine.connection_count(), 0);
    let mut stream = std::net::TcpStream::from(detached.fd);
    stream.set_nonblocking(false).expect("blocking");
    stream.write_all(b"over").expect("sent");
    assert_eq!(read_exactly(&mut client, 4), b"over");
    send(&mut client, "there");
    let mut bytes = [0; 5];
    stream.read_exact(&mut bytes).expect("read");
    assert_eq!(&bytes, b"there");
}

#[test]
fn an_upgrade_nobody_takes_is_a_request() {
    let mut owner = owner();
    let mut client = owner.connect();
    send(
        &mut client,
        "POST /up HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\nContent-Length: 3\r\n\r\nabc",
    );
    assert_eq!(owner.next_request().url, "/up");
    let body = owner.next(|event| match event {
        Event::Body(_, bytes) => Some(bytes.clone()),
        _ => None,
    });
    assert_eq!(body, b"abc");
}

#[test]
fn a_connection_goes_on_behind_an_upgrade_nobody_took() {
    let mut owner = owner();
    let mut client = owner.connect();
    let head = "GET /up HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n";
    for sequence in 0..3 {
        send(&mut client, head);
        let request = owner.next_request();
        assert_eq!(request.sequence, sequence);
        owner.write(request.id, sequence, END, b"k");
        owner.turn();
        read_exactly(&mut client, 1);
    }
    send(&mut client, GET);
    assert_eq!(owner.next_request().sequence, 3);
}
