//! Events during the owner's reading of a batch are reported in a later one, and wait for their responses like all others.

#![cfg(target_os = "linux")]

mod owner;

use std::io::Read;
use std::net::Shutdown;
use std::thread;
use std::time::Duration;

use http_engine::{ServerSettings, write_flags};
use owner::{Event, Owner, send};

/// Returns the words of the next batch.
fn batch(owner: &mut Owner) -> usize {
    for _ in 0..5_000 {
        owner.engine.flush();
        let polled = owner.engine.poll();
        if polled.words > 0 {
            return polled.words;
        }
        thread::sleep(Duration::from_millis(1));
    }
    panic!("no batch");
}

/// Runs `act` long enough for the kernel to report an action of a client.
fn for_a_while<T>(mut act: impl FnMut() -> T) {
    for _ in 0..50 {
        act();
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_refusal_reaches_a_client_that_has_ended_while_the_owner_was_busy() {
    let mut owner = Owner::new(ServerSettings::default());
    let mut busy = owner.connect();
    let mut client = owner.connect();
    send(&mut busy, "GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
    let words = batch(&mut owner);
    owner.peek(words);
    owner.events.clear();
    // The owner has the batch; an engine with a thread of its own continues polling.
    send(&mut client, "nonsense\r\n\r\n");
    for_a_while(|| owner.engine.poll());
    assert!(owner.engine.has_unreported());
    client.shutdown(Shutdown::Write).expect("the client ends");
    for_a_while(|| owner.engine.poll());
    owner.engine.flush();
    owner.engine.unlock_batch();
    let words = batch(&mut owner);
    owner.engine.lock_batch();
    owner.read(words);
    let [Event::Error(id, _)] = owner.events[..] else {
        panic!("{:?}", owner.events);
    };
    let flags = write_flags::RAW | write_flags::CLOSE;
    owner.write(id, 0, flags, b"HTTP/1.1 400 Bad Request\r\n\r\n");
    owner.engine.flush();
    owner.engine.unlock_batch();
    let mut received = String::new();
    client.read_to_string(&mut received).expect("a response");
    assert_eq!(received, "HTTP/1.1 400 Bad Request\r\n\r\n");
}
