//! A lone connection is read without polling the kernel.

#![cfg(target_os = "linux")]

mod owner;

use std::time::{Duration, Instant};

use http_engine::{Polled, ServerSettings, write_flags};
use owner::{Event, Owner, read_exactly, send};

const GET: &str = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
const PATIENCE: Duration = Duration::from_millis(1);

fn owner() -> Owner {
    Owner::new(ServerSettings::default())
}

/// Reads the batch, and responds to its requests. Returns their number.
fn respond(owner: &mut Owner, polled: Polled) -> usize {
    owner.events.clear();
    owner.peek(polled.words);
    let requests: Vec<_> = owner
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Request(request) => Some((request.id, request.sequence)),
            _ => None,
        })
        .collect();
    for (id, sequence) in &requests {
        owner.write(*id, *sequence, write_flags::END, b"ok");
    }
    owner.engine.flush();
    owner.engine.unlock_batch();
    requests.len()
}

/// Polls until something arrives.
fn poll_lone(owner: &mut Owner) -> Option<Polled> {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(5) {
        if let Some(polled) = owner.engine.poll_lone(PATIENCE) {
            return Some(polled);
        }
    }
    None
}

#[test]
fn a_lone_connection_is_read_and_others_are_let_in_meanwhile() {
    let mut owner = owner();
    assert!(owner.engine.poll_lone(PATIENCE).is_none());
    let mut client = owner.connect();
    send(&mut client, GET);
    let first = owner.next_request();
    owner.write(first.id, first.sequence, write_flags::END, b"ok");
    owner.turn();
    read_exactly(&mut client, 2);
    assert!(owner.engine.poll_lone(Duration::ZERO).is_none());

    send(&mut client, GET);
    let polled = poll_lone(&mut owner).expect("the second request");
    assert_eq!(respond(&mut owner, polled), 1);
    read_exactly(&mut client, 2);

    // It sends requests continuously, and another client connects.
    let _other = owner.connect();
    let mut asked = 0;
    while let Some(polled) = {
        send(&mut client, GET);
        asked += 1;
        assert!(asked < 100, "the listener never has its turn");
        owner.engine.poll_lone(PATIENCE)
    } {
        respond(&mut owner, polled);
        read_exactly(&mut client, 2);
    }
    owner.turn();
    assert_eq!(owner.engine.connection_count(), 2);
}

#[test]
fn the_end_of_a_lone_connection_is_reported() {
    let mut owner = owner();
    let mut client = owner.connect();
    send(&mut client, GET);
    let first = owner.next_request();
    owner.write(first.id, first.sequence, write_flags::END, b"ok");
    owner.turn();
    read_exactly(&mut client, 2);
    drop(client);
    let polled = poll_lone(&mut owner).expect("the end");
    owner.events.clear();
    owner.engine.lock_batch();
    owner.read(polled.words);
    owner.engine.unlock_batch();
    assert!(matches!(owner.events[..], [Event::Close(..)]));
    assert_eq!(owner.engine.connection_count(), 0);
    assert!(owner.engine.poll_lone(PATIENCE).is_none());
}
