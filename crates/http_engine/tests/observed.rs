//! The facts of exchanges that an observed engine writes to a telemetry ring.

#![cfg(target_os = "linux")]

mod owner;

use std::io::Write;
use std::net::TcpStream;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

use http_engine::{Fill, Proxies, ResponseParts, ServerSettings, StoredResponse, write_flags};
use owner::ring::{Fact, Ring, facts};
use owner::{Event, Id, Owner, end, fill, read_all, read_exactly, send};
use telemetry_ring::wire::{begin, end as wire_end, level};

const CHUNK: u32 = write_flags::CHUNK;
const CLOSE: u32 = write_flags::CLOSE;
const END: u32 = write_flags::END;
const TRAILERS: u32 = write_flags::TRAILERS;
const GET: &str = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
const LAST: &str = "GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
/// More than the kernel takes at once.
const LARGE: usize = 16 * 1024 * 1024;

fn observed() -> (Owner, Ring) {
    observed_by(Ring::of_heads())
}

fn observed_by(mut ring: Ring) -> (Owner, Ring) {
    let mut owner = Owner::new(ServerSettings::default());
    ring.observe(&mut owner);
    (owner, ring)
}

fn begun(id: Id, sequence: u32) -> Fact {
    Fact::Begin(id, sequence, "GET /x".into(), "Host: a\r\n".into(), 0)
}

fn ended(id: Id, sequence: u32, status: u32, route: u32) -> Fact {
    Fact::End(id, sequence, (status, route), 0, true)
}

fn peer(id: Id, client: &TcpStream) -> Fact {
    let port = client.local_addr().expect("an address").port();
    Fact::Peer(id, "127.0.0.1".into(), port.into())
}

fn closed(owner: &mut Owner) {
    owner.next(|event| matches!(event, Event::Close(..)).then_some(()));
}

#[test]
fn the_exchanges_of_a_connection() {
    let (mut owner, mut ring) = observed();
    let mut client = owner.connect();
    send(&mut client, GET);
    let id = owner.next_request().id;
    assert_eq!(ring.facts(), [peer(id, &client), begun(id, 0)]);
    owner.write(id, 0, 0, b"o");
    owner.turn();
    assert_eq!(ring.facts(), [], "it has not ended");
    owner.write_with(id, 0, (END, facts(200, 7)), b"k");
    owner.turn();
    assert_eq!(ring.facts(), [ended(id, 0, 200, 7)]);
    assert_eq!(read_exactly(&mut client, 2), b"ok");
    send(
        &mut client,
        "HEAD   /a?b HTTP/1.0\r\nX-A:  b\r\nConnection: keep-alive\r\n\r\n",
    );
    owner.next_request();
    owner.write_with(id, 1, (END, facts(404, 0)), b"no");
    owner.turn();
    let head = Fact::Begin(
        id,
        1,
        "HEAD /a?b".into(),
        "X-A:  b\r\nConnection: keep-alive\r\n".into(),
        begin::HTTP_10,
    );
    assert_eq!(ring.facts(), [head, ended(id, 1, 404, 0)]);
    assert_eq!(read_exactly(&mut client, 2), b"no");
    drop(client);
    closed(&mut owner);
    assert_eq!(ring.facts(), [], "nothing was under way");
}

#[test]
fn a_head_without_headers_has_no_lines() {
    let (mut owner, mut ring) = observed();
    let mut client = owner.connect();
    send(&mut client, "OPTIONS * HTTP/1.1\r\n\r\n");
    let id = owner.next_request().id;
    let head = Fact::Begin(id, 0, "OPTIONS *".into(), String::new(), 0);
    assert_eq!(ring.facts()[1..], [head]);
}

#[test]
fn without_heads_the_method_crosses_alone() {
    let (mut owner, mut ring) = observed_by(Ring::new(1024, level::FACTS));
    let mut client = owner.connect();
    send(&mut client, GET);
    let id = owner.next_request().id;
    let begun = Fact::Begin(id, 0, "GET".into(), String::new(), 0);
    assert_eq!(ring.facts(), [peer(id, &client), begun]);
}

#[test]
fn a_ring_that_wants_nothing_gets_nothing() {
    let (mut owner, mut ring) = observed_by(Ring::new(1024, level::NOTHING));
    let mut client = owner.connect();
    send(&mut client, LAST);
    let id = owner.next_request().id;
    owner.write_with(id, 0, (END | CLOSE, facts(200, 1)), b"ok");
    owner.turn();
    assert_eq!(read_all(&mut client), "ok");
    assert_eq!(ring.facts(), []);
    assert_eq!(ring.take_lost(), 0);
}

#[test]
fn a_response_that_closes_is_sent_before_the_connection_ends() {
    let (mut owner, mut ring) = observed();
    let mut client = owner.connect();
    send(&mut client, LAST);
    let id = owner.next_request().id;
    owner.write_with(id, 0, (END | CLOSE, facts(500, 3)), b"ok");
    owner.turn();
    assert_eq!(read_all(&mut client), "ok");
    assert_eq!(ring.facts()[2..], [ended(id, 0, 500, 3)]);
}

#[test]
fn a_chunked_response_ends_with_its_trailers() {
    let (mut owner, mut ring) = observed();
    let mut client = owner.connect();
    send(&mut client, LAST);
    let id = owner.next_request().id;
    owner.write(id, 0, CHUNK, b"abc");
    owner.turn();
    let flags = END | CLOSE | TRAILERS;
    owner.write_with(id, 0, (flags, facts(200, 1)), b"A: b\r\n");
    owner.turn();
    assert_eq!(read_all(&mut client), "3\r\nabc\r\n0\r\nA: b\r\n\r\n");
    assert_eq!(ring.facts()[2..], [ended(id, 0, 200, 1)]);
}

#[test]
fn responses_to_a_pipeline_end_in_their_turn() {
    let (mut owner, mut ring) = observed();
    let mut client = owner.connect();
    send(&mut client, &GET.repeat(3));
    let requests: Vec<_> = (0..3).map(|_| owner.next_request()).collect();
    let id = requests[0].id;
    assert_eq!(
        ring.facts()[1..],
        [begun(id, 0), begun(id, 1), begun(id, 2)]
    );
    owner.write_with(id, 2, (END, facts(202, 3)), b"three");
    owner.write_with(id, 1, (END, facts(201, 2)), b"two");
    owner.turn();
    assert_eq!(ring.facts(), []);
    owner.write_with(id, 0, (END, facts(200, 1)), b"one");
    owner.turn();
    assert_eq!(
        ring.facts(),
        [
            ended(id, 0, 200, 1),
            ended(id, 1, 201, 2),
            ended(id, 2, 202, 3)
        ]
    );
}

#[test]
fn requests_after_a_response_that_closes_end_with_the_connection() {
    let (mut owner, mut ring) = observed();
    let mut client = owner.connect();
    send(&mut client, &GET.repeat(2));
    let id = owner.next_request().id;
    owner.next_request();
    owner.write_with(id, 0, (END | CLOSE, facts(200, 1)), b"bye");
    owner.write_with(id, 1, (END, facts(200, 2)), b"never");
    owner.turn();
    assert_eq!(read_all(&mut client), "bye");
    assert_eq!(
        ring.facts()[3..],
        [ended(id, 0, 200, 1), Fact::Close(id, 0)]
    );
}

#[test]
fn a_slow_client_has_its_response_later() {
    let (mut owner, mut ring) = observed();
    let mut client = owner.connect();
    send(&mut client, GET);
    let id = owner.next_request().id;
    let body = vec![b'y'; LARGE];
    let last = facts(200, 1);
    owner
        .engine
        .write(id.slot, id.generation, 0, END, last, &body);
    let unsent = Fact::End(id, 0, (200, 1), 0, false);
    assert_eq!(ring.facts()[2..], [unsent]);
    let reader = std::thread::spawn(move || {
        read_exactly(&mut client, LARGE);
        client
    });
    owner.next(|event| matches!(event, Event::Drain(_)).then_some(()));
    assert_eq!(ring.facts(), [Fact::Sent(id)]);
    let client = reader.join().expect("read");
    drop(client);
    closed(&mut owner);
    assert_eq!(ring.facts(), []);
}

#[test]
fn a_client_that_leaves_ends_what_is_under_way() {
    let (mut owner, mut ring) = observed();
    let mut client = owner.connect();
    send(
        &mut client,
        "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc",
    );
    let id = owner.next_request().id;
    ring.facts();
    reset(client);
    closed(&mut owner);
    let [Fact::Close(of, errno)] = ring.facts()[..] else {
        panic!("one CLOSE");
    };
    assert_eq!((of, errno), (id, libc::ECONNRESET.unsigned_abs()));
}

#[test]
fn a_client_that_leaves_does_not_get_the_rest() {
    let (mut owner, mut ring) = observed();
    let mut client = owner.connect();
    send(&mut client, GET);
    let id = owner.next_request().id;
    let body = vec![b'y'; LARGE];
    let last = facts(200, 1);
    owner
        .engine
        .write(id.slot, id.generation, 0, END, last, &body);
    ring.facts();
    reset(client);
    closed(&mut owner);
    let facts = ring.facts();
    assert!(
        matches!(facts[..], [Fact::Close(of, errno)] if of == id && errno != 0),
        "{facts:?}"
    );
}

#[test]
fn a_connection_that_the_owner_closes_ends_its_request() {
    let (mut owner, mut ring) = observed();
    let mut client = owner.connect();
    send(&mut client, GET);
    let id = owner.next_request().id;
    owner.write(id, 0, 0, b"begun");
    owner.engine.close(id.slot, id.generation, false);
    assert_eq!(read_all(&mut client), "begun");
    assert_eq!(ring.facts()[2..], [Fact::Close(id, 0)]);
}

#[test]
fn refused_input_has_its_status_and_its_code() {
    let cases = [
        (
            "GET / HTTP/1.1\r\nHost: a\nX: y\r\n\r\n",
            400,
            "HPE_CR_EXPECTED",
        ),
        ("nonsense\r\n\r\n", 400, "HPE_INVALID_METHOD"),
        ("GET / HT", 400, "HPE_INVALID_EOF_STATE"),
    ];
    for (bytes, status, code) in cases {
        let (mut owner, mut ring) = observed();
        let mut client = owner.connect();
        send(&mut client, bytes);
        end(&client);
        let id = owner.next(|event| match event {
            Event::Error(id, _) => Some(*id),
            _ => None,
        });
        assert_eq!(ring.facts(), [Fact::Refused(id, status, code.into())]);
    }
    let (mut owner, mut ring) = observed();
    let mut client = owner.connect();
    let long = "x".repeat(20_000);
    send(&mut client, &format!("GET / HTTP/1.1\r\nX: {long}\r\n\r\n"));
    owner.next(|event| matches!(event, Event::Error(..)).then_some(()));
    assert!(matches!(ring.facts()[..], [Fact::Refused(_, 431, _)]));
}

#[test]
fn a_head_that_does_not_come_in_time_is_refused() {
    let mut owner = Owner::new(ServerSettings {
        headers_timeout: 20,
        ..ServerSettings::default()
    });
    let mut ring = Ring::of_heads();
    ring.observe(&mut owner);
    let mut client = owner.connect();
    send(&mut client, "GET / HT");
    let id = owner.next(|event| match event {
        Event::Error(id, _) => Some(*id),
        _ => None,
    });
    let code = "ERR_HTTP_REQUEST_TIMEOUT".into();
    assert_eq!(ring.facts(), [Fact::Refused(id, 408, code)]);
}

#[test]
fn a_refusal_in_its_turn_is_the_end_of_no_request() {
    let (mut owner, mut ring) = observed();
    let mut client = owner.connect();
    send(&mut client, &format!("{GET}nonsense\r\n\r\n"));
    let id = owner.next_request().id;
    owner.next(|event| matches!(event, Event::Error(..)).then_some(()));
    owner.write(id, 1, END | CLOSE, b"400");
    owner.write_with(id, 0, (END, facts(200, 1)), b"ok");
    owner.turn();
    assert_eq!(read_all(&mut client), "ok400");
    let refused = Fact::Refused(id, 400, "HPE_INVALID_METHOD".into());
    assert_eq!(ring.facts()[2..], [refused, ended(id, 0, 200, 1)]);
}

#[test]
fn a_bad_body_belongs_to_its_request() {
    let (mut owner, mut ring) = observed();
    let mut client = owner.connect();
    send(
        &mut client,
        "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    );
    let id = owner.next_request().id;
    owner.next(|event| matches!(event, Event::Error(..)).then_some(()));
    owner.write(id, 0, write_flags::RAW | CLOSE, b"400");
    owner.turn();
    assert_eq!(read_all(&mut client), "400");
    assert_eq!(ring.facts()[2..], [Fact::Close(id, 0)]);
}

fn kept(target: &str, route: u32) -> Fill {
    Fill {
        response: StoredResponse::new(ResponseParts {
            head: b"HTTP/1.1 203 OK\r\nContent-Length: 2\r\nETag: \"e\"\r\n",
            not_modified: b"HTTP/1.1 304 Not Modified\r\nETag: \"e\"\r\n",
            etag: b"\"e\"",
            body: b"ok",
            status: 203,
            route,
            ..ResponseParts::default()
        }),
        ..fill(target, "", b"")
    }
}

#[test]
fn a_kept_response_has_the_route_that_it_was_kept_with() {
    let (mut owner, mut ring) = observed();
    owner.keep(kept("/x", 5));
    let mut client = owner.connect();
    send(&mut client, GET);
    send(
        &mut client,
        "HEAD /x HTTP/1.1\r\nHost: a\r\nIf-None-Match: \"e\"\r\nConnection: close\r\n\r\n",
    );
    let mut reader = client.try_clone().expect("a copy");
    let reader = std::thread::spawn(move || read_all(&mut reader));
    while !reader.is_finished() {
        owner.turn();
    }
    let id = Id {
        slot: 0,
        generation: 1,
    };
    let kept_end = |sequence, status| Fact::End(id, sequence, (status, 5), wire_end::IS_KEPT, true);
    let found = ring.facts();
    assert_eq!(found[0], peer(id, &client));
    assert_eq!(found[1], begun(id, 0));
    let ends: Vec<_> = found
        .into_iter()
        .filter(|fact| matches!(fact, Fact::End(..)))
        .collect();
    assert_eq!(ends, [kept_end(0, 203), kept_end(1, 304)]);
    assert_eq!(ring.facts(), []);
}

#[test]
fn a_route_of_another_ring_is_unknown() {
    let (mut owner, mut ring) = observed();
    owner.keep(kept("/x", 5));
    let mut other = Ring::of_heads();
    other.observe(&mut owner);
    let mut client = owner.connect();
    send(&mut client, LAST);
    let reader = std::thread::spawn(move || read_all(&mut client));
    while !reader.is_finished() {
        owner.turn();
    }
    assert_eq!(ring.facts(), []);
    let found = other.facts();
    assert!(
        matches!(found[2], Fact::End(_, 0, (203, 0), wire_end::IS_KEPT, true)),
        "{found:?}"
    );
    owner.engine.observe(None);
}

#[test]
fn a_connection_that_is_taken_over_switches_protocols() {
    for (request, status) in [
        (
            "GET /x HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nxyz",
            101,
        ),
        ("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 200),
    ] {
        let (mut owner, mut ring) = observed();
        let mut client = owner.connect();
        send(&mut client, request);
        let id = take_over(&mut owner);
        let last = Fact::End(id, 0, (status, 0), wire_end::IS_UPGRADE, true);
        assert_eq!(ring.facts()[2..], [last]);
    }
}

/// Takes over the connection of the next request, while its batch is read.
fn take_over(owner: &mut Owner) -> Id {
    loop {
        let polled = owner.engine.poll();
        if polled.words > 0 {
            let id = owner.peek(polled.words).id;
            assert!(owner.engine.detach(id.slot, id.generation).is_some());
            owner.engine.unlock_batch();
            return id;
        }
    }
}

#[test]
fn a_connection_that_leaves_in_the_middle_of_a_response_is_closed() {
    let (mut owner, mut ring) = observed();
    let mut client = owner.connect();
    send(&mut client, GET);
    let id = owner.next_request().id;
    assert!(owner.engine.detach(id.slot, id.generation).is_some());
    assert_eq!(ring.facts()[2..], [Fact::Close(id, 0)]);
}

#[test]
fn the_client_of_a_proxy_is_the_other_end() {
    let (mut owner, mut ring) = observed();
    let proxies = Proxies {
        networks: vec![
            http_engine::Network::new("127.0.0.1".parse().expect("ip"), 32).expect("a network"),
        ],
        trusts_unix: false,
    };
    owner.engine.trust_proxies(owner.server, proxies);
    let mut client = owner.connect();
    send(
        &mut client,
        "PROXY TCP6 2001:db8::7 2001:db8::1 4567 80\r\n",
    );
    send(&mut client, GET);
    let id = owner.next_request().id;
    let peer = Fact::Peer(id, "2001:db8::7".into(), 4567);
    assert_eq!(ring.facts(), [peer, begun(id, 0)]);
}

#[test]
fn a_unix_socket_has_no_address() {
    let (mut owner, mut ring) = observed();
    let (given, mut client) = UnixStream::pair().expect("a pair");
    owner.engine.adopt(owner.server, OwnedFd::from(given));
    client.write_all(GET.as_bytes()).expect("sent");
    let id = owner.next_request().id;
    let peer = Fact::Peer(id, String::new(), 0);
    assert_eq!(ring.facts(), [peer, begun(id, 0)]);
}

#[test]
fn a_full_ring_loses_records_and_breaks_nothing() {
    let (mut owner, mut ring) = observed_by(Ring::new(1024, level::HEADS));
    let mut client = owner.connect();
    const COUNT: u32 = 200;
    for sequence in 0..COUNT {
        send(&mut client, GET);
        let id = owner.next_request().id;
        owner.write_with(id, sequence, (END, facts(200, 1)), b"ok");
        owner.turn();
        assert_eq!(read_exactly(&mut client, 2), b"ok");
    }
    let written = ring.facts().len() as u32;
    assert!(written < 2 * COUNT, "{written}");
    assert_eq!(written + ring.take_lost(), 1 + 2 * COUNT);
    send(&mut client, GET);
    let id = owner.next_request().id;
    assert_eq!(ring.facts(), [begun(id, COUNT)]);
}

#[test]
fn requests_under_way_are_observed_from_their_end_on() {
    let mut owner = Owner::new(ServerSettings::default());
    let mut client = owner.connect();
    let mut other = owner.connect();
    send(&mut client, &GET.repeat(2));
    let id = owner.next_request().id;
    owner.next_request();
    send(&mut other, GET);
    let other_id = owner.next_request().id;
    let mut ring = Ring::of_heads();
    ring.observe(&mut owner);
    owner.write_with(id, 0, (END, facts(200, 1)), b"ok");
    owner.turn();
    owner.engine.close(id.slot, id.generation, false);
    assert_eq!(
        ring.facts(),
        [ended(id, 0, 200, 1), Fact::Close(id, 0)],
        "the other request ends with the connection"
    );
    owner.engine.observe(None);
    owner.write_with(other_id, 0, (END, facts(200, 1)), b"ok");
    owner.turn();
    assert_eq!(read_exactly(&mut other, 2), b"ok");
    assert_eq!(ring.facts(), []);
}

/// Closes a connection with a reset.
fn reset(stream: TcpStream) {
    let linger = libc::linger {
        l_onoff: 1,
        l_linger: 0,
    };
    // SAFETY: the option's value lives through the call.
    let set = unsafe {
        libc::setsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_LINGER,
            (&raw const linger).cast(),
            size_of::<libc::linger>() as libc::socklen_t,
        )
    };
    assert_eq!(set, 0);
    drop(stream);
}
