//! Requests of few clients, reported in shares.

#![cfg(target_os = "linux")]

mod owner;

use std::net::TcpStream;

use http_engine::{ServerSettings, write_flags};
use owner::{Event, Id, Owner, read_exactly, send};

const END: u32 = write_flags::END;
const GET: &str = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";

fn owner() -> Owner {
    Owner::new(ServerSettings::default())
}

/// Connects eight clients, each with one response.
fn eight_clients(owner: &mut Owner) -> Vec<(TcpStream, Id)> {
    (0..8)
        .map(|_| {
            let mut client = owner.connect();
            send(&mut client, GET);
            let id = owner.next_request().id;
            owner.write(id, 0, END, b"ok");
            owner.turn();
            read_exactly(&mut client, 2);
            (client, id)
        })
        .collect()
}

/// Reports one of four shares of the ready requests, and returns their number.
fn report_share(owner: &mut Owner) -> usize {
    owner.events.clear();
    let polled = owner.engine.poll_share(4);
    if polled.words > 0 {
        owner.peek(polled.words);
        owner.engine.unlock_batch();
    }
    owner.events.len()
}

#[test]
fn ready_events_are_reported_in_shares_if_requested() {
    let mut owner = owner();
    let mut clients = eight_clients(&mut owner);
    for (client, _) in &mut clients {
        send(client, GET);
    }
    let mut reported = 0;
    while reported < clients.len() {
        let share = report_share(&mut owner);
        // The kernel may not have had all of them when it was polled.
        assert!(share <= 2, "{share} of at most 8");
        reported += share;
    }
    assert_eq!(reported, 8);
}

#[test]
fn what_is_closed_between_two_shares_is_not_reported() {
    let mut owner = owner();
    let mut clients = eight_clients(&mut owner);
    for (client, _) in &mut clients {
        send(client, GET);
    }
    while report_share(&mut owner) == 0 {}
    for (_, id) in &clients {
        owner.engine.close(id.slot, id.generation, false);
    }
    owner.events.clear();
    let mut closed = 0;
    while closed < clients.len() {
        let polled = owner.engine.poll_share(4);
        if polled.words == 0 {
            continue;
        }
        owner.engine.lock_batch();
        owner.read(polled.words);
        owner.engine.unlock_batch();
        for event in owner.events.drain(..) {
            assert!(matches!(event, Event::Close(..)), "{event:?}");
            closed += 1;
        }
    }
}
