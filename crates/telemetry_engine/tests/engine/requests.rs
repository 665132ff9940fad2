//! Facts of requests become spans.

use crate::support::{Field, Message, PARENT, attributes, engine, settings, spans, text};
use telemetry_engine::{Sampler, Settings};
use telemetry_ring::wire::{change, kind, value};

const PLACE: [u32; 3] = [7, 2, 40];

fn seconds(span: &Message) -> (u64, u64) {
    let time = |field: u32| match span[&field][0] {
        Field::Number(nanos) => nanos / 1_000_000_000 - 1_000,
        Field::Bytes(_) => panic!("not a time"),
    };
    (time(7), time(8))
}

fn name(span: &Message) -> String {
    span[&5][0].text()
}

fn status(span: &Message) -> (u64, String) {
    let status = span[&15][0].message();
    let Field::Number(code) = status[&3][0] else {
        panic!("no code");
    };
    let message = status.get(&2).map(|message| message[0].text());
    (code, message.unwrap_or_default())
}

#[test]
fn a_request_is_a_span_with_derived_ids() {
    let (mut engine, mut out, _) = engine(settings());
    out.begin(PLACE, 5, "GET /x", "");
    out.end(PLACE, 200, 0, 6, 7);
    let spans = spans(&mut engine);
    let [span] = &spans[..] else {
        panic!("{} spans", spans.len());
    };
    let id = |field: u32| match &span[&field][0] {
        Field::Bytes(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        Field::Number(_) => String::new(),
    };
    assert_eq!(id(1), "5a77181faa37ae452490e1a1c0b64c3a");
    assert_eq!(id(2), "b81f32b9ae4bfe7c");
    assert!(!span.contains_key(&4));
    assert_eq!(span[&16], [Field::Number(0x101)]);
    assert_eq!(seconds(span), (5, 7));
    assert_eq!(name(span), "GET");
    assert_eq!(status(span), (0, String::new()));
}

#[test]
fn a_response_that_the_client_has_not_taken_ends_when_it_has() {
    let (mut engine, mut out, _) = engine(settings());
    out.begin(PLACE, 5, "GET /x", "");
    out.end(PLACE, 200, 0, 6, 0);
    assert_eq!(spans(&mut engine).len(), 0);
    out.close(kind::SENT, PLACE, 9);
    assert_eq!(seconds(&spans(&mut engine)[0]), (5, 9));
}

#[test]
fn a_response_whose_client_leaves_ends_then() {
    let (mut engine, mut out, _) = engine(settings());
    out.begin(PLACE, 5, "GET /x", "");
    out.end(PLACE, 200, 0, 6, 0);
    out.close(kind::CLOSE, PLACE, 8);
    let spans = spans(&mut engine);
    assert_eq!(seconds(&spans[0]), (5, 8));
    assert!(attributes(&spans[0], 9).contains(&"http.response.status_code=200".to_owned()));
}

#[test]
fn a_client_that_leaves_before_the_response_is_an_error_without_a_status() {
    let (mut engine, mut out, _) = engine(settings());
    out.begin(PLACE, 5, "GET /x", "");
    out.close(kind::CLOSE, PLACE, 8);
    let spans = spans(&mut engine);
    assert_eq!(
        attributes(&spans[0], 9),
        [
            "error.type=ECONNRESET",
            "http.request.method=GET",
            "network.protocol.version=1.1",
            "url.path=/x",
            "url.scheme=http"
        ]
    );
    assert_eq!(status(&spans[0]), (2, String::new()));
}

#[test]
fn requests_of_one_connection_end_each_at_its_time() {
    let (mut engine, mut out, _) = engine(settings());
    for sequence in 1..=3 {
        out.begin([7, 2, sequence], sequence, &format!("GET /{sequence}"), "");
    }
    out.end([7, 2, 1], 200, 0, 10, 0);
    out.end([7, 2, 2], 201, 0, 11, 12);
    out.close(kind::SENT, PLACE, 13);
    out.end([7, 2, 3], 202, 0, 14, 14);
    let times: Vec<_> = spans(&mut engine).iter().map(seconds).collect();
    assert_eq!(times, [(2, 12), (1, 13), (3, 14)]);
    assert_eq!(engine.counts().lost_records, 0);
}

#[test]
fn an_end_without_a_beginning_is_counted_and_no_span() {
    let (mut engine, mut out, _) = engine(settings());
    out.end(PLACE, 200, 0, 6, 7);
    out.close(kind::CLOSE, PLACE, 8);
    assert_eq!(spans(&mut engine).len(), 0);
    assert_eq!(engine.counts().lost_records, 1);
}

#[test]
fn a_connection_whose_close_was_lost_takes_its_requests_with_it() {
    let (mut engine, mut out, _) = engine(settings());
    out.begin([7, 2, 1], 1, "GET /lost", "");
    out.begin([7, 3, 1], 2, "GET /x", "");
    out.end([7, 2, 1], 200, 0, 3, 3);
    out.end([7, 3, 1], 200, 0, 4, 4);
    let spans = spans(&mut engine);
    assert_eq!(spans.len(), 1);
    assert_eq!(seconds(&spans[0]), (2, 4));
    // The request, and its END.
    assert_eq!(engine.counts().lost_records, 2);
    assert!(engine.prometheus().contains("active_requests{otel_scope_name=\"@redline/telemetry\",http_request_method=\"GET\",url_scheme=\"http\"} 0\n"));
}

#[test]
fn a_change_is_known_though_its_ring_is_read_first() {
    let (mut engine, mut out, mut own) = engine(settings());
    own.numbered(kind::ROUTE, 3, "/users/:id");
    own.numbered(kind::ROUTE, 4, "/people/:id");
    let set = [vec![1], text("user.id"), vec![value::TEXT], text("u1")].concat();
    own.change(PLACE, change::ATTRIBUTES, &set);
    own.change(PLACE, change::ROUTE, &[4]);
    out.begin(PLACE, 1, "GET /users/1", "");
    out.end(PLACE, 500, 3, 2, 2);
    let spans = spans(&mut engine);
    assert_eq!(name(&spans[0]), "GET /people/:id");
    let attributes = attributes(&spans[0], 9);
    assert!(attributes.contains(&"user.id=u1".to_owned()));
    assert!(attributes.contains(&"http.route=/people/:id".to_owned()));
    assert!(attributes.contains(&"error.type=500".to_owned()));
}

#[test]
fn a_change_of_no_request_is_forgotten_after_the_next_reading() {
    let (mut engine, mut out, mut own) = engine(settings());
    own.change(PLACE, change::NAME, &text("early"));
    spans(&mut engine);
    out.begin(PLACE, 1, "GET /x", "");
    out.end(PLACE, 200, 0, 2, 2);
    assert_eq!(name(&spans(&mut engine)[0]), "early");
    own.change(PLACE, change::NAME, &text("late"));
    spans(&mut engine);
    spans(&mut engine);
    out.begin(PLACE, 1, "GET /x", "");
    out.end(PLACE, 200, 0, 2, 2);
    assert_eq!(name(&spans(&mut engine)[0]), "GET");
}

#[test]
fn the_end_of_a_request_has_the_last_word() {
    let (mut engine, mut out, mut own) = engine(settings());
    own.numbered(kind::ROUTE, 1, "/a");
    let set = [
        vec![3],
        text("http.route"),
        vec![value::TEXT],
        text("/b"),
        text("url.path"),
        vec![value::TEXT],
        text("/hidden"),
        text("http.response.status_code"),
        vec![value::INTEGER, 1, 0],
    ]
    .concat();
    out.begin(PLACE, 1, "GET /x", "");
    own.change(PLACE, change::ATTRIBUTES, &set);
    own.change(PLACE, change::NAME, &text("mine"));
    own.change(PLACE, change::STATUS, &[vec![2], text("mine")].concat());
    out.end(PLACE, 503, 1, 2, 2);
    let spans = spans(&mut engine);
    let attributes = attributes(&spans[0], 9);
    assert_eq!(name(&spans[0]), "GET /a");
    assert_eq!(status(&spans[0]), (2, String::new()));
    for expected in [
        "http.route=/a",
        "url.path=/hidden",
        "http.response.status_code=503",
    ] {
        assert!(attributes.contains(&expected.to_owned()), "{attributes:?}");
    }
    assert_eq!(attributes.len(), 7);
}

#[test]
fn a_status_that_was_set_stays_where_the_response_is_no_error() {
    let set_status = |code: u32, message: &str, response: u32| {
        let (mut engine, mut out, mut own) = engine(settings());
        out.begin(PLACE, 1, "GET /x", "");
        own.change(PLACE, change::STATUS, &[vec![code], text(message)].concat());
        out.end(PLACE, response, 0, 2, 2);
        status(&spans(&mut engine)[0])
    };
    assert_eq!(set_status(2, "mine", 404), (2, "mine".to_owned()));
    assert_eq!(set_status(1, "", 500), (1, String::new()));
    assert_eq!(set_status(0, "", 500), (2, String::new()));
}

#[test]
fn limits_of_attributes_hold() {
    let (mut engine, mut out, mut own) = engine(Settings {
        attribute_count_limit: 5,
        attribute_value_length_limit: 3,
        ..settings()
    });
    let set = [vec![1], text("more"), vec![value::TEXT], text("abcdef")].concat();
    out.begin(PLACE, 1, "GET /long", "");
    own.change(PLACE, change::ATTRIBUTES, &set);
    out.end(PLACE, 200, 0, 2, 2);
    let spans = spans(&mut engine);
    assert_eq!(
        attributes(&spans[0], 9),
        [
            "http.request.method=GET",
            "more=abc",
            "network.protocol.version=1.1",
            "url.path=/lo",
            "url.scheme=htt"
        ]
    );
    assert_eq!(spans[0][&10], [Field::Number(1)]);
}

#[test]
fn a_sampler_decides_unless_javascript_has() {
    let run = |sampler: Sampler, block: &str, decision: Option<u32>| {
        let (mut engine, mut out, mut own) = engine(Settings {
            sampler,
            ..settings()
        });
        out.begin(PLACE, 1, "GET /x", block);
        if let Some(decision) = decision {
            own.change(PLACE, change::SAMPLED, &[decision]);
        }
        out.end(PLACE, 200, 0, 2, 2);
        spans(&mut engine).len()
    };
    let sampled = format!("traceparent: {PARENT}\r\n");
    let unsampled = sampled.replace("-01\r", "-00\r");
    assert_eq!(run(Sampler::AlwaysOn, "", None), 1);
    assert_eq!(run(Sampler::AlwaysOff, "", None), 0);
    assert_eq!(run(Sampler::AlwaysOff, &sampled, None), 1);
    assert_eq!(run(Sampler::AlwaysOn, &unsampled, None), 0);
    assert_eq!(run(Sampler::AlwaysOn, &unsampled, Some(1)), 1);
    assert_eq!(run(Sampler::AlwaysOn, "", Some(0)), 0);
}

#[test]
fn a_request_without_a_head_is_counted_alone() {
    let (mut engine, mut out, _) = engine(settings());
    out.begin(PLACE, 1, "GET", "");
    out.end(PLACE, 200, 0, 2, 2);
    assert_eq!(spans(&mut engine).len(), 0);
    assert_eq!(engine.counts().requests, 1);
    assert!(
        engine
            .prometheus()
            .contains("http_server_request_duration_seconds_sum")
    );
}

#[test]
fn records_that_make_no_sense_are_counted() {
    let (mut engine, _, mut own) = engine(settings());
    assert!(own.0.put(99, &[1], &[]));
    assert!(own.0.put(kind::SPAN, &[1, 2], &[]));
    assert!(own.0.put(kind::TEXT, &[1, 1_000], &[b"short"]));
    assert!(own.0.put(kind::ROUTE, &[0, 1], &[b"x"]));
    own.change(PLACE, change::ATTRIBUTES, &[3, 1]);
    own.change(PLACE, 99, &[]);
    assert_eq!(spans(&mut engine).len(), 0);
    assert_eq!(engine.counts().lost_records, 6);
}

#[test]
fn a_source_that_is_removed_is_read_to_its_end() {
    let (mut engine, mut out, _) = engine(settings());
    out.begin([1, 1, 1], 1, "GET /x", "");
    out.end([1, 1, 1], 200, 0, 2, 2);
    out.begin([2, 1, 1], 1, "GET /under-way", "");
    engine.remove_source(1);
    engine.remove_source(1);
    assert_eq!(engine.counts().waiting_spans, 1);
    assert!(engine.prometheus().contains("url_scheme=\"http\"} 0\n"));
}
