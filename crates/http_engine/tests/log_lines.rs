//! Log lines of responses that the engine sends by itself, as reported to their owner.

#![cfg(target_os = "linux")]

mod owner;

use std::net::TcpStream;
use std::time::Duration;

use http_engine::wire::{answer_count, request};
use http_engine::{
    Begin, Clock, Fill, LinePlan, LoggedResponse, News, ResponseParts, ResponseTime,
    ServerSettings, StoredResponse,
};
use owner::{Event, Owner, fill, read_exactly, send};

const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nConnection: keep-alive\r\n\r\nok";
const GET: &str = "GET /kept HTTP/1.1\r\nHost: a\r\n\r\n";
const MEBIBYTE: usize = 1024 * 1024;

fn logged() -> Fill {
    Fill {
        response: StoredResponse::new(ResponseParts {
            head: b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n",
            body: b"ok",
            status: 200,
            line: 1,
            ..ResponseParts::default()
        }),
        ..fill("/kept", "", b"")
    }
}

fn plan(filler: usize, due_bytes: usize) -> LinePlan {
    let bytes = |text: &str| Box::from(text.as_bytes());
    let begin = || Begin::Bytes(bytes("{"));
    LinePlan {
        begins: [begin(), begin(), begin()],
        before_time: bytes("\"time\":"),
        clock: Clock::Millis,
        before_id: bytes(&format!(",\"{}\":", "x".repeat(filler))),
        before_duration: bytes(",\"responseTime\":"),
        ends: [bytes("}\n"), bytes("}\n")],
        id_prefix: bytes("id-"),
        share: 1.0,
        due_bytes,
    }
}

fn serve(plan: Option<LinePlan>) -> (Owner, TcpStream) {
    let mut owner = Owner::new(ServerSettings {
        keep_alive_shown: 0,
        ..ServerSettings::default()
    });
    owner.keep(logged());
    owner.engine.log_lines(owner.server, plan);
    let client = owner.connect();
    (owner, client)
}

/// Sends one request that the engine responds to.
fn hit(owner: &mut Owner, client: &mut TcpStream) {
    send(client, GET);
    let before = owner.hits();
    while owner.hits() == before {
        owner.turn();
    }
    read_exactly(client, ANSWER.len());
}

fn take(owner: &mut Owner) -> Vec<String> {
    let mut into = vec![0; 2 * MEBIBYTE];
    let length = owner.engine.take_lines(owner.server, &mut into);
    into.truncate(length);
    let text = String::from_utf8(into).expect("text");
    text.split_inclusive('\n').map(ToOwned::to_owned).collect()
}

#[test]
fn the_owner_hears_once_that_there_are_some_and_once_that_they_are_due() {
    let (mut owner, mut client) = serve(Some(plan(1, 200)));
    for _ in 0..5 {
        hit(&mut owner, &mut client);
    }
    assert_eq!(owner.events, [Event::Lines(false), Event::Lines(true)]);
    let lines = take(&mut owner);
    assert_eq!(lines.len(), 5);
    assert!(
        lines[4].contains("\"id-004\",\"method\":\"GET\",\"url\":\"/kept\",\"statusCode\":200,")
    );
    owner.events.clear();
    hit(&mut owner, &mut client);
    assert_eq!(owner.events, [Event::Lines(false)]);
}

#[test]
fn the_owner_gets_the_request_when_there_is_no_room_for_its_line_and_only_then() {
    let (mut owner, mut client) = serve(Some(plan(60_000, usize::MAX)));
    for _ in 0..MEBIBYTE / 61_000 {
        hit(&mut owner, &mut client);
    }
    send(&mut client, GET);
    let request = owner.next_request();
    assert_eq!(request.url, "/kept");
    let counts = owner.engine.store_counts(owner.server);
    assert_eq!(counts[answer_count::LOG_FULL], 1);
    assert_eq!(take(&mut owner).len(), MEBIBYTE / 61_000);
    let mut client = owner.connect();
    hit(&mut owner, &mut client);
}

#[test]
fn the_owner_gets_requests_for_what_is_logged_where_it_has_said_nothing_of_a_log() {
    let (mut owner, mut client) = serve(None);
    send(&mut client, GET);
    assert_eq!(owner.next_request().url, "/kept");
}

#[test]
fn a_line_that_is_written_while_the_owner_reads_a_batch_is_in_the_next() {
    let (mut owner, mut client) = serve(Some(plan(1, 0)));
    send(&mut client, "GET /other HTTP/1.1\r\nHost: a\r\n\r\n");
    while owner.engine.poll().words < request::HEADERS {}
    owner.engine.lock_batch();
    let mut second = owner.connect();
    send(&mut second, GET);
    while owner.hits() == 0 {
        owner.engine.poll();
    }
    read_exactly(&mut second, ANSWER.len());
    assert_eq!(take(&mut owner).len(), 1);
    owner.engine.unlock_batch();
    owner.next(|event| (*event == Event::Lines(true)).then_some(()));
}

#[test]
fn lines_outlive_their_server() {
    let (mut owner, mut client) = serve(Some(plan(1, usize::MAX)));
    hit(&mut owner, &mut client);
    owner.engine.stop(owner.server);
    drop(client);
    owner.next(|event| (*event == Event::Stopped).then_some(()));
    assert_eq!(take(&mut owner).len(), 1);
    assert_eq!(take(&mut owner).len(), 0);
}

#[test]
fn the_line_of_an_owners_response_is_written_among_the_others() {
    let response = LoggedResponse {
        is_head: false,
        url: b"/own",
        status: 201,
        id: Some(b"one".as_slice()),
        took: ResponseTime::Exactly(Duration::from_micros(1_235)),
    };
    let (mut owner, mut client) = serve(Some(plan(1, usize::MAX)));
    let server = owner.server;
    let write = |owner: &mut Owner| owner.engine.write_owners_line(server, &response);
    assert_eq!(write(&mut owner), News::Some);
    hit(&mut owner, &mut client);
    // The return value has reported it.
    assert_eq!(owner.events, []);
    assert_eq!(write(&mut owner), News::Nothing);
    let lines = take(&mut owner);
    assert_eq!(lines.len(), 3);
    assert!(lines[0].ends_with(
        "\"one\",\"method\":\"GET\",\"url\":\"/own\",\"statusCode\":201,\"responseTime\":1.235}\n"
    ));
    assert!(lines[1].contains("\"url\":\"/kept\""));
}

#[test]
fn an_owner_knows_what_it_may_have_written() {
    let (mut owner, _client) = serve(Some(plan(1, usize::MAX)));
    let server = owner.server;
    let url = vec![b'x'; owner.engine.owners_limits(server).max_url];
    assert!(url.len() > 30_000);
    let response = LoggedResponse {
        is_head: true,
        url: &url,
        status: 200,
        id: None,
        took: ResponseTime::Exactly(Duration::ZERO),
    };
    let mut written = 0;
    while !owner.engine.owners_limits(server).is_full {
        owner.engine.write_owners_line(server, &response);
        written += 1;
    }
    assert!((30..40).contains(&written), "{written}");
    assert_eq!(take(&mut owner).len(), written);
    assert!(!owner.engine.owners_limits(server).is_full);
    owner.engine.log_lines(server, None);
    assert_eq!(owner.engine.owners_limits(server).max_url, 0);
    assert_eq!(
        owner.engine.write_owners_line(server, &response),
        News::Nothing
    );
}
