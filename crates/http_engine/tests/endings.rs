//! The end of connections: timeouts, resets in every state, servers that stop.

#![cfg(target_os = "linux")]

mod owner;

use std::io::Read;
use std::net::TcpStream;
use std::time::Duration;

use http_engine::{ServerSettings, write_flags};
use owner::{Event, Id, Owner, end, is_readable, read_all, read_exactly, send};

const END: u32 = write_flags::END;
const CLOSE: u32 = write_flags::CLOSE;
const RAW: u32 = write_flags::RAW;
const GET: &str = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
const POST: &str = "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n";
const OFF: ServerSettings = ServerSettings::WITHOUT_TIMEOUTS;

fn error(owner: &mut Owner) -> (Id, &'static str) {
    owner.next(|event| match event {
        Event::Error(id, code) => Some((*id, *code)),
        _ => None,
    })
}

fn closed(owner: &mut Owner) -> (Id, u32) {
    owner.next(|event| match event {
        Event::Close(id, errno) => Some((*id, *errno)),
        _ => None,
    })
}

#[test]
fn a_client_that_says_nothing_is_timed() {
    let mut owner = Owner::new(ServerSettings {
        headers_timeout: 30,
        ..OFF
    });
    let mut client = owner.connect();
    let (id, code) = error(&mut owner);
    assert_eq!(code, "ERR_HTTP_REQUEST_TIMEOUT");
    owner.write(id, 0, RAW | CLOSE, b"408");
    owner.turn();
    assert_eq!(read_all(&mut client), "408");
}

#[test]
fn a_slow_head_is_timed_from_its_first_byte() {
    let mut owner = Owner::new(ServerSettings {
        headers_timeout: 60,
        ..OFF
    });
    let mut client = owner.connect();
    send(&mut client, GET);
    let request = owner.next_request();
    owner.write(request.id, 0, END, b"k");
    owner.turn();
    read_exactly(&mut client, 1);
    let mut drip = client.try_clone().expect("a copy");
    let writer = std::thread::spawn(move || {
        use std::io::Write;
        // Continues as long as the connection exists.
        let mut sent = drip.write_all(b"GET /");
        while sent.is_ok() {
            std::thread::sleep(Duration::from_millis(5));
            sent = drip.write_all(b"a");
        }
    });
    let (id, code) = error(&mut owner);
    assert_eq!(code, "ERR_HTTP_REQUEST_TIMEOUT");
    owner.engine.close(id.slot, id.generation, true);
    closed(&mut owner);
    writer.join().expect("ended");
}

#[test]
fn a_body_that_does_not_end_is_timed() {
    let mut owner = Owner::new(ServerSettings {
        request_timeout: 40,
        ..OFF
    });
    let mut client = owner.connect();
    send(&mut client, POST);
    assert_eq!(error(&mut owner).1, "ERR_HTTP_REQUEST_TIMEOUT");
}

/// Its owner is late each time, which extends the time once.
#[test]
fn a_body_that_comes_without_end_is_timed() {
    let mut owner = Owner::new(ServerSettings {
        request_timeout: 40,
        ..OFF
    });
    let mut client = owner.connect();
    send(
        &mut client,
        &POST.replace("Length: 9", "Length: 999999999999"),
    );
    let mut flood = client.try_clone().expect("a copy");
    let writer = std::thread::spawn(move || {
        use std::io::Write;
        while flood.write_all(&[b'a'; 16 * 1024]).is_ok() {}
    });
    let (id, code) = loop {
        std::thread::sleep(Duration::from_millis(50));
        owner.turn();
        let events = std::mem::take(&mut owner.events);
        if let Some(error) = events.into_iter().find_map(|event| match event {
            Event::Error(id, code) => Some((id, code)),
            _ => None,
        }) {
            break error;
        }
    };
    assert_eq!(code, "ERR_HTTP_REQUEST_TIMEOUT");
    owner.engine.close(id.slot, id.generation, true);
    closed(&mut owner);
    writer.join().expect("ended");
}

#[test]
fn a_connection_between_requests_is_timed() {
    let mut owner = Owner::new(ServerSettings {
        keep_alive_timeout: 30,
        headers_timeout: 60_000,
        ..OFF
    });
    let mut client = owner.connect();
    for sequence in 0..3 {
        send(&mut client, GET);
        let request = owner.next_request();
        owner.write(request.id, sequence, END, b"k");
        owner.turn();
        read_exactly(&mut client, 1);
    }
    let (id, inactive) = owner.next(|event| match event {
        Event::Timeout(id, inactive) => Some((*id, *inactive)),
        _ => None,
    });
    assert!(!inactive);
    owner.engine.close(id.slot, id.generation, false);
    assert_eq!(read_all(&mut client), "");
}

#[test]
fn a_response_that_takes_long_is_not_timed() {
    let mut owner = Owner::new(ServerSettings {
        keep_alive_timeout: 10,
        headers_timeout: 10,
        request_timeout: 10,
        ..OFF
    });
    let mut client = owner.connect();
    send(&mut client, GET);
    let request = owner.next_request();
    std::thread::sleep(Duration::from_millis(50));
    owner.turn();
    assert_eq!(owner.events, []);
    owner.write(request.id, 0, END, b"late");
    owner.turn();
    assert_eq!(read_exactly(&mut client, 4), b"late");
}

#[test]
fn the_time_between_requests_begins_with_the_end_of_the_response() {
    let mut owner = Owner::new(ServerSettings {
        keep_alive_timeout: 10_000,
        ..OFF
    });
    let mut client = owner.connect();
    send(&mut client, GET);
    let request = owner.next_request();
    let (slot, generation) = (request.id.slot, request.id.generation);
    // The response comes 60 ms after the engine's last reading of the clock, and 30 ms are allowed.
    std::thread::sleep(Duration::from_millis(60));
    owner.engine.configure(
        owner.server,
        ServerSettings {
            keep_alive_timeout: 30,
            ..OFF
        },
    );
    let before = std::time::Instant::now();
    owner.engine.write(slot, generation, 0, END, 0, b"k");
    owner.next(|event| matches!(event, Event::Timeout(..)).then_some(()));
    assert!(before.elapsed() >= Duration::from_millis(28));
}

#[test]
fn inactivity_is_reported() {
    let mut owner = Owner::new(OFF);
    let mut client = owner.connect();
    send(&mut client, GET);
    let id = owner.next_request().id;
    owner.engine.set_timeout(id.slot, id.generation, 20);
    let inactive = owner.next(|event| match event {
        Event::Timeout(_, inactive) => Some(*inactive),
        _ => None,
    });
    assert!(inactive);
}

fn reset(stream: TcpStream) {
    let linger = libc::linger {
        l_onoff: 1,
        l_linger: 0,
    };
    // SAFETY: the option is a `linger`, which lives through the call.
    let result = unsafe {
        libc::setsockopt(
            std::os::fd::AsRawFd::as_raw_fd(&stream),
            libc::SOL_SOCKET,
            libc::SO_LINGER,
            (&raw const linger).cast(),
            size_of::<libc::linger>() as libc::socklen_t,
        )
    };
    assert_eq!(result, 0);
}

#[test]
fn a_reset_in_any_state_frees_the_connection() {
    let mut owner = Owner::new(OFF);
    let half_a_head = &GET[..10];
    for sent in ["", half_a_head, GET, POST, "GET / HTTP/1.1\nbad"] {
        let mut client = owner.connect();
        send(&mut client, sent);
        owner.until(|_| Some(()));
        for _ in 0..10 {
            owner.turn();
        }
        reset(client);
        let mut turns = 0;
        while owner.engine.connection_count() > 0 {
            owner.turn();
            for event in std::mem::take(&mut owner.events) {
                // Nothing is read after an error: its owner closes.
                if let Event::Error(id, _) = event {
                    owner.write(id, 0, RAW | CLOSE, b"400");
                }
            }
            turns += 1;
            assert!(turns < 100_000, "after {sent:?}");
        }
    }
}

#[test]
fn a_reset_while_a_response_waits_frees_the_connection() {
    let mut owner = Owner::new(OFF);
    let mut client = owner.connect();
    send(&mut client, GET);
    let id = owner.next_request().id;
    let large = vec![0; 8 * 1024 * 1024];
    owner
        .engine
        .write(id.slot, id.generation, 0, END, 0, &large);
    assert!(owner.pending(id) > 0);
    reset(client);
    let (_, errno) = closed(&mut owner);
    assert_ne!(errno, 0);
    assert_eq!(owner.engine.connection_count(), 0);
}

#[test]
fn a_body_that_ends_early_is_an_error() {
    let mut owner = Owner::new(OFF);
    let mut client = owner.connect();
    send(&mut client, POST);
    send(&mut client, "abc");
    owner.next_request();
    owner::end(&client);
    assert_eq!(error(&mut owner).1, "HPE_INVALID_EOF_STATE");
}

#[test]
fn a_server_that_stops_says_when_its_last_connection_is_gone() {
    let mut owner = Owner::new(OFF);
    let mut idle = owner.connect();
    send(&mut idle, GET);
    let request = owner.next_request();
    owner.write(request.id, 0, END, b"k");
    owner.turn();
    read_exactly(&mut idle, 1);
    let mut busy = owner.connect();
    send(&mut busy, GET);
    let late = owner.next_request();
    let server = owner.server;
    owner.engine.stop(server);
    owner.engine.close_idle(server, false);
    assert_eq!(read_all(&mut idle), "");
    assert!(TcpStream::connect(owner.address).is_err());
    assert!(!owner.events.contains(&Event::Stopped));
    owner.write(late.id, 0, END | CLOSE, b"bye");
    owner.next(|event| matches!(event, Event::Stopped).then_some(()));
    assert_eq!(read_all(&mut busy), "bye");
}

#[test]
fn a_connection_whose_request_has_come_is_not_idle() {
    let mut owner = Owner::new(OFF);
    let mut client = owner.connect();
    let server = owner.server;
    while owner.engine.connections_of(server) == 0 {
        owner.turn();
    }
    send(&mut client, GET);
    owner.engine.stop(server);
    owner.engine.close_idle(server, true);
    let first = owner.next_request();
    owner.write(first.id, first.sequence, END, b"k");
    owner.turn();
    read_exactly(&mut client, 1);
    send(&mut client, GET);
    owner.engine.close_idle(server, true);
    let second = owner.next_request();
    owner.write(second.id, second.sequence, END, b"k");
    owner.turn();
    read_exactly(&mut client, 1);
    owner.engine.close_idle(server, true);
    assert_eq!(read_all(&mut client), "");
}

#[test]
fn connections_beyond_the_limit_are_dropped_and_reported() {
    let mut owner = Owner::new(ServerSettings {
        max_connections: 1,
        ..OFF
    });
    let mut first = owner.connect();
    send(&mut first, GET);
    owner.next_request();
    let mut second = owner.connect();
    owner.next(|event| matches!(event, Event::Drop).then_some(()));
    let mut bytes = Vec::new();
    // The end, or a reset.
    let _ = second.read_to_end(&mut bytes);
    assert_eq!(bytes, b"");
}

#[test]
fn many_idle_connections_are_served_and_freed() {
    const COUNT: usize = 400;
    let mut owner = Owner::new(OFF);
    let mut clients: Vec<_> = (0..COUNT).map(|_| owner.connect()).collect();
    for client in &mut clients {
        send(client, GET);
        let request = owner.next_request();
        owner.write(request.id, 0, END, b"k");
        owner.turn();
        read_exactly(client, 1);
    }
    assert_eq!(owner.engine.connection_count(), COUNT as u32);
    drop(clients);
    for _ in 0..COUNT {
        closed(&mut owner);
    }
    assert_eq!(owner.engine.connection_count(), 0);
}

#[test]
fn an_end_in_a_requested_turn_is_not_forgotten() {
    let mut owner = Owner::new(OFF);
    let mut client = owner.connect();
    send(&mut client, GET);
    let id = owner.next_request().id;
    while owner.engine.poll().more {}
    end(&client);
    assert!(is_readable(owner.engine.descriptor(), 20_000));
    // The requested turn comes after the end in the kernel's list.
    owner.engine.request_turn();
    assert_eq!(owner.engine.poll().words, 0);
    assert!(is_readable(owner.engine.descriptor(), 0));
    assert_eq!(closed(&mut owner).0, id);
}
