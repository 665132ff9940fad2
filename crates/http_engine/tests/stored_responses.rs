//! Responses that the engine sends by itself, as clients receive them.

#![cfg(target_os = "linux")]

mod owner;

use std::io::Read;
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use http_engine::wire::{answer_count, outcome};
use http_engine::{
    Fill, Identity, KeyPlan, ResponseParts, ServerSettings, StoredResponse, write_flags,
};
use owner::{Event, Owner, fill, read_all, send};

const END: u32 = write_flags::END;
const OFF: ServerSettings = ServerSettings::WITHOUT_TIMEOUTS;
const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n";

fn get(target: &str, lines: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: a\r\n{lines}\r\n")
}

/// Returns everything a client receives until its connection ends, without the dates. Only the engine responds.
fn receive(owner: &mut Owner, client: TcpStream) -> String {
    let mut client = client;
    let reader = thread::spawn(move || read_all(&mut client));
    while !reader.is_finished() {
        owner.turn();
        thread::yield_now();
    }
    let text = reader.join().expect("read");
    let lines = text.split_inclusive("\r\n");
    lines.filter(|line| !line.starts_with("Date: ")).collect()
}

/// Returns the engine's response to a last request.
fn ask(owner: &mut Owner, request: &str) -> String {
    let mut client = owner.connect();
    send(
        &mut client,
        &request.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"),
    );
    receive(owner, client)
}

fn expect_request(owner: &mut Owner, request: &str) {
    let mut client = owner.connect();
    send(&mut client, request);
    owner.next_request();
}

fn with_etag(target: &str) -> Fill {
    Fill {
        response: StoredResponse::new(ResponseParts {
            head: HEAD.as_bytes(),
            tail: b"",
            not_modified: b"HTTP/1.1 304 Not Modified\r\nETag: \"e\"\r\n",
            etag: b"\"e\"",
            body: b"ok",
            status: 200,
            line: 0,
            has_last_modified: true,
            route: 0,
        }),
        ..fill(target, "", b"")
    }
}

fn planned(target: &str, identity: Identity, name: &str, value: &str, body: &str) -> Fill {
    Fill {
        plan: KeyPlan {
            identity,
            names: vec![name.into()],
            encodings: 0,
        },
        values: vec![Some(value.into())],
        ..fill(target, HEAD, body.as_bytes())
    }
}

#[test]
fn they_are_sent_without_the_owner() {
    let mut owner = Owner::new(ServerSettings {
        keep_alive_shown: 5000,
        ..OFF
    });
    owner.keep(fill("/health", HEAD, b"ok"));
    let mut client = owner.connect();
    send(&mut client, "HEAD /health HTTP/1.1\r\nHost: a\r\n\r\n");
    send(&mut client, &get("/health", "Connection: close\r\n"));
    assert_eq!(
        receive(&mut owner, client),
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5\r\n\r\n\
         HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
    );
    assert_eq!(owner.events, []);
}

#[test]
fn a_length_of_the_engines_own_is_where_node_has_it() {
    let mut owner = Owner::new(OFF);
    owner.keep(Fill {
        response: StoredResponse::new(ResponseParts {
            head: b"HTTP/1.1 200 OK\r\nX-A: b\r\n",
            tail: b"Content-Length: 2\r\n",
            body: b"ok",
            ..ResponseParts::default()
        }),
        ..fill("/", "", b"")
    });
    assert_eq!(
        ask(&mut owner, &get("/", "")),
        "HTTP/1.1 200 OK\r\nX-A: b\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"
    );
    assert_eq!(
        ask(&mut owner, "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"),
        "HTTP/1.1 200 OK\r\nX-A: b\r\nConnection: close\r\n\r\n"
    );
}

#[test]
fn an_old_client_gets_them_and_keeps_its_connection_if_it_asks_to() {
    let mut owner = Owner::new(OFF);
    owner.keep(fill("/", HEAD, b"ok"));
    let mut client = owner.connect();
    send(
        &mut client,
        "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    );
    send(&mut client, "GET / HTTP/1.0\r\n\r\n");
    assert_eq!(
        receive(&mut owner, client),
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok\
         HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
    );
}

#[test]
fn they_are_not_given_to_what_they_are_not_for() {
    let mut owner = Owner::new(OFF);
    owner.keep(with_etag("/x"));
    owner.keep(Fill {
        fresh_ms: 1,
        ..fill("/old", HEAD, b"ok")
    });
    owner.keep(fill("/gone", HEAD, b"ok"));
    owner.engine.drop_target(owner.server, b"/gone");
    thread::sleep(Duration::from_millis(5));
    for request in [
        "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n",
        &get("/x?y", ""),
        &get("/old", ""),
        &get("/gone", ""),
        "GET /x HTTP/1.1\r\n\r\n",
        &get("/x", "Content-Length: 1\r\n"),
        &get("/x", "Expect: 100-continue\r\n"),
        &get("/x", "Connection: upgrade\r\nUpgrade: a\r\n"),
        &get("/x", "Range: bytes=0-1\r\n"),
        &get("/x", "If-Range: \"e\"\r\n"),
        &get("/x", "If-Match: \"e\"\r\n"),
        &get(
            "/x",
            "If-Unmodified-Since: Thu, 01 Jan 1970 00:00:00 GMT\r\n",
        ),
        &get("/x", "If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT\r\n"),
        &get("/x", "If-None-Match: \"e\"\r\nCache-Control: no-cache\r\n"),
        "GET /x HTTP/1.0\r\nIf-None-Match: \"e\"\r\n\r\n",
        &get("/x", "Authorization: Basic YTpi\r\n"),
        &get("/x", "Cookie: a=b\r\n"),
    ] {
        expect_request(&mut owner, request);
        // The second time its header block is known.
        expect_request(&mut owner, request);
        expect_request(&mut owner, request);
    }
    let counts = owner.engine.store_counts(owner.server);
    assert_eq!(counts[answer_count::HITS], 0);
    let mut client = owner.connect();
    send(&mut client, "GET /x HTTP/1.1\r\nHost: a\nX: y\r\n\r\n");
    let code = owner.next(|event| match event {
        Event::Error(_, code) => Some(*code),
        _ => None,
    });
    assert_eq!(code, "HPE_CR_EXPECTED");
}

#[test]
fn one_behind_a_request_of_the_owners_waits_its_turn_there() {
    let mut owner = Owner::new(OFF);
    owner.keep(fill("/kept", HEAD, b"ok"));
    let mut client = owner.connect();
    send(&mut client, &(get("/asked", "") + &get("/kept", "")));
    let first = owner.next_request();
    let second = owner.next_request();
    assert_eq!(
        (first.url.as_str(), second.url.as_str()),
        ("/asked", "/kept")
    );
    owner.write(second.id, second.sequence, END, b"2nd");
    owner.write(first.id, first.sequence, END, b"1st");
    owner.turn();
    let mut bytes = [0; 6];
    client.read_exact(&mut bytes).expect("both");
    assert_eq!(&bytes, b"1st2nd");
}

#[test]
fn a_client_that_has_it_gets_304() {
    let mut owner = Owner::new(OFF);
    owner.keep(with_etag("/"));
    let not_modified = "HTTP/1.1 304 Not Modified\r\nETag: \"e\"\r\nConnection: close\r\n\r\n";
    for named in ["\"e\"", "W/\"e\"", "\"d\", \"e\"", "*"] {
        let lines = format!("If-None-Match: {named}\r\n");
        assert_eq!(ask(&mut owner, &get("/", &lines)), not_modified);
    }
    let head = "HEAD / HTTP/1.1\r\nHost: a\r\nIf-None-Match: \"e\"\r\n\r\n";
    assert_eq!(ask(&mut owner, head), not_modified);
    let other = ask(&mut owner, &get("/", "If-None-Match: \"d\"\r\n"));
    assert!(other.ends_with("\r\n\r\nok"), "{other}");
    let counts = owner.engine.store_counts(owner.server);
    assert_eq!(counts[answer_count::NOT_MODIFIED], 5);
    assert_eq!(counts[answer_count::HITS], 6);
}

#[test]
fn headers_choose_among_variants() {
    let mut owner = Owner::new(OFF);
    owner.keep(planned("/", Identity::Anonymous, "accept", "a", "aa"));
    owner.keep(planned("/", Identity::Anonymous, "accept", "b", "bb"));
    for _ in 0..3 {
        assert!(ask(&mut owner, &get("/", "Accept: a\r\n")).ends_with("\r\n\r\naa"));
        assert!(ask(&mut owner, &get("/", "ACCEPT:  b \r\n")).ends_with("\r\n\r\nbb"));
        expect_request(&mut owner, &get("/", "Accept: c\r\n"));
        expect_request(&mut owner, &get("/", ""));
        expect_request(&mut owner, &get("/", "Accept: a\r\nAccept: a\r\n"));
    }
}

#[test]
fn what_belongs_to_one_is_for_nobody_else() {
    let mut owner = Owner::new(OFF);
    owner.keep(planned(
        "/h",
        Identity::Header,
        "authorization",
        "one",
        "11",
    ));
    owner.keep(planned(
        "/h",
        Identity::Header,
        "authorization",
        "two",
        "22",
    ));
    owner.keep(planned("/c", Identity::Cookie, "sid", "one", "11"));
    for _ in 0..3 {
        assert!(ask(&mut owner, &get("/h", "Authorization: one\r\n")).ends_with("11"));
        assert!(ask(&mut owner, &get("/h", "Authorization: two\r\n")).ends_with("22"));
        assert!(ask(&mut owner, &get("/c", "Cookie: a=b; sid=one\r\n")).ends_with("11"));
        for request in [
            get("/h", ""),
            get("/h", "Authorization: three\r\n"),
            get("/h", "Authorization: One\r\n"),
            get("/h", "Authorization: one\r\nAuthorization: two\r\n"),
            get("/c", ""),
            get("/c", "Cookie: sid=two\r\n"),
            get("/c", "Cookie: sid=one; sid=two\r\n"),
            get("/c", "Cookie: sid=one\r\nCookie: a=b\r\n"),
            get("/c", "Cookie: SID=one\r\n"),
        ] {
            expect_request(&mut owner, &request);
        }
    }
}

#[test]
fn what_is_public_is_for_those_with_credentials_too() {
    let mut owner = Owner::new(OFF);
    let of = |identity, target| Fill {
        plan: KeyPlan {
            identity,
            names: Vec::new(),
            encodings: 0,
        },
        ..fill(target, HEAD, b"ok")
    };
    owner.keep(of(Identity::Public, "/public"));
    owner.keep(of(Identity::AnyCookies, "/cookies"));
    assert!(
        ask(
            &mut owner,
            &get("/public", "Authorization: a\r\nCookie: b=c\r\n")
        )
        .ends_with("ok")
    );
    assert!(ask(&mut owner, &get("/cookies", "Cookie: b=c\r\n")).ends_with("ok"));
    expect_request(&mut owner, &get("/cookies", "Authorization: a\r\n"));
}

#[test]
fn of_those_who_ask_for_what_is_stale_one_gets_through() {
    let mut owner = Owner::new(OFF);
    owner.keep(Fill {
        fresh_ms: 1,
        stale_ms: 3_600_000,
        ..fill("/", HEAD, b"ok")
    });
    thread::sleep(Duration::from_millis(5));
    // A response to HEAD is never kept.
    assert!(ask(&mut owner, "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n").starts_with("HTTP/1.1 200"));
    let mut through = owner.connect();
    send(&mut through, &get("/", ""));
    let request = owner.next_request();
    for _ in 0..10 {
        assert!(ask(&mut owner, &get("/", "")).ends_with("\r\n\r\nok"));
    }
    owner.keep(fill("/", HEAD, b"ha"));
    assert!(ask(&mut owner, &get("/", "")).ends_with("\r\n\r\nha"));
    owner.write(request.id, request.sequence, END, b"late");
    owner.turn();
    let counts = owner.engine.store_counts(owner.server);
    assert_eq!(counts[answer_count::STALE_HITS], 11);
}

#[test]
fn a_large_one_reaches_a_client_that_reads_slowly() {
    let mut owner = Owner::new(OFF);
    let body: Vec<u8> = (0..7_000_000_u32)
        .map(|index| b'a' + (index % 23) as u8)
        .collect();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n", body.len());
    owner.keep(fill("/", &head, &body));
    let mut client = owner.connect();
    // The response after one of them is not lost, and does not overtake it.
    send(&mut client, &(get("/", "") + &get("/", "")));
    for _ in 0..10 {
        owner.turn();
    }
    // It may be removed from the store while it is being sent.
    owner.engine.clear_store(owner.server);
    owner.keep(fill("/", HEAD, b"ok"));
    send(&mut client, &get("/", "Connection: close\r\n"));
    let text = receive(&mut owner, client);
    let body = String::from_utf8(body).expect("text");
    let first = format!("{head}Connection: keep-alive\r\n\r\n{body}");
    assert!(text.starts_with(&first), "{} bytes", text.len());
    let last = "\r\n\r\nok";
    assert!(text.ends_with(last), "{} bytes", text.len());
}

#[test]
fn behind_a_large_one_come_those_of_the_owner() {
    let mut owner = Owner::new(OFF);
    let body = vec![b'k'; 40_000];
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n", body.len());
    owner.keep(fill("/", &head, &body));
    let mut client = owner.connect();
    send(
        &mut client,
        &(get("/", "") + &get("/", "") + &get("/asked", "Connection: close\r\n")),
    );
    let request = owner.next_request();
    owner.write(
        request.id,
        request.sequence,
        END | write_flags::CLOSE,
        b"of the owner",
    );
    let text = receive(&mut owner, client);
    let body = String::from_utf8(body).expect("text");
    let one = format!("{head}Connection: keep-alive\r\n\r\n{body}");
    assert!(
        text == format!("{one}{one}of the owner"),
        "{} bytes",
        text.len()
    );
}

#[test]
fn a_server_that_has_stopped_leaves_them_to_its_owner() {
    let mut owner = Owner::new(OFF);
    owner.keep(fill("/", HEAD, b"ok"));
    let mut client = owner.connect();
    send(&mut client, &get("/", ""));
    let mut bytes = [0; 10];
    for _ in 0..1000 {
        owner.turn();
    }
    client.read_exact(&mut bytes).expect("a response");
    owner.engine.stop(owner.server);
    send(&mut client, &get("/", ""));
    owner.next_request();
    let refused = owner.engine.keep(owner.server, fill("/", HEAD, b"ok"));
    assert_eq!(refused, outcome::NOT_SERVED);
}

#[test]
fn who_names_no_host_gets_nothing_that_is_kept() {
    let mut owner = Owner::new(OFF);
    owner.keep(with_etag("/reports"));
    let get = |host: &str| format!("GET /reports HTTP/1.1\r\nHost: {host}\r\n\r\n");
    assert!(ask(&mut owner, &get("shop.example:80")).ends_with("ok"));
    for host in [
        "shop.example/admin",
        "a,b",
        "https://shop.example",
        "a b",
        "",
        "a\r\nHost: a",
    ] {
        expect_request(&mut owner, &get(host));
    }
}
