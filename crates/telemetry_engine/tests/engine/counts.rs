//! Facts of requests become metrics of OTLP.

use crate::support::{Field, Message, Out, at, attributes, engine, message, settings};
use telemetry_engine::{Attribute, Settings, Value};

fn respond(out: &mut Out, sequence: u32, seconds: u32) {
    let place = [1, 1, sequence];
    out.begin(place, 100, "GET /x", "");
    out.end(place, 200, 0, 100 + seconds, 100 + seconds);
}

/// Returns the data of a metric, by its name.
fn metric(request: &[u8], name: &str, field: u32) -> Option<Message> {
    let resource_metrics = message(request)[&1][0].message();
    let scope_metrics = resource_metrics[&2][0].message();
    let all = scope_metrics[&2].iter().map(Field::message);
    let mut named = all.filter(|metric| metric[&1][0].text() == name);
    named.next().map(|metric| metric[&field][0].message())
}

fn number(message: &Message, field: u32) -> u64 {
    match message[&field][0] {
        Field::Number(number) => number,
        Field::Bytes(_) => panic!("not a number"),
    }
}

fn words(message: &Message, field: u32) -> Vec<u64> {
    let Field::Bytes(bytes) = &message[&field][0] else {
        panic!("not packed");
    };
    let (words, _) = bytes.as_chunks::<8>();
    words.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

const DURATION: &str = "http.server.request.duration";

#[test]
fn nothing_is_sent_before_a_request() {
    let (mut engine, ..) = engine(settings());
    assert_eq!(engine.take_metrics(at(1)), None);
}

#[test]
fn counts_grow_from_the_start_on() {
    let (mut engine, mut out, _) = engine(Settings {
        resource: vec![Attribute {
            key: "service.name".to_owned(),
            value: Value::Text("shop".to_owned()),
        }],
        ..settings()
    });
    respond(&mut out, 1, 1);
    engine.drain(at(2));
    engine.take_metrics(at(3));
    respond(&mut out, 2, 5);
    engine.drain(at(4));
    let request = engine.take_metrics(at(5)).expect("metrics");
    let resource = message(&request)[&1][0].message()[&1][0].message();
    assert_eq!(attributes(&resource, 1), ["service.name=shop"]);
    let histogram = metric(&request, DURATION, 9).expect("a histogram");
    assert_eq!(number(&histogram, 2), 2);
    let point = histogram[&1][0].message();
    assert_eq!(
        attributes(&point, 9),
        [
            "http.request.method=GET",
            "http.response.status_code=200",
            "network.protocol.version=1.1",
            "url.scheme=http"
        ]
    );
    assert_eq!(number(&point, 2), 1_000_000_000_000);
    assert_eq!(number(&point, 3), 1_005_000_000_000);
    assert_eq!(number(&point, 4), 2);
    assert_eq!(words(&point, 6), [0, 1, 1]);
    let bounds = words(&point, 7).into_iter().map(f64::from_bits);
    assert_eq!(bounds.collect::<Vec<_>>(), [0.1, 1.0]);
    let double = |field| f64::from_bits(number(&point, field));
    assert_eq!((double(5), double(11), double(12)), (6.0, 1.0, 5.0));
}

#[test]
fn differences_begin_where_the_last_ended() {
    let (mut engine, mut out, _) = engine(Settings {
        is_delta: true,
        ..settings()
    });
    respond(&mut out, 1, 1);
    engine.drain(at(2));
    engine.take_metrics(at(3));
    let request = engine.take_metrics(at(4)).expect("requests under way");
    assert_eq!(metric(&request, DURATION, 9), None);
    respond(&mut out, 2, 5);
    engine.drain(at(5));
    let request = engine.take_metrics(at(6)).expect("metrics");
    let histogram = metric(&request, DURATION, 9).expect("a histogram");
    assert_eq!(number(&histogram, 2), 1);
    let point = histogram[&1][0].message();
    assert_eq!(number(&point, 2), 1_004_000_000_000);
    assert_eq!(number(&point, 3), 1_006_000_000_000);
    assert_eq!((number(&point, 4), words(&point, 6)), (1, vec![0, 0, 1]));
    assert!(engine.prometheus().contains("_count{otel_scope_name=\"@redline/telemetry\",http_request_method=\"GET\",url_scheme=\"http\",network_protocol_version=\"1.1\",http_response_status_code=\"200\"} 2\n"));
}

#[test]
fn requests_under_way_rise_and_fall() {
    let (mut engine, mut out, _) = engine(Settings {
        is_delta: true,
        ..settings()
    });
    for sequence in 1..=3 {
        out.begin([1, 1, sequence], 1, "GET /x", "");
    }
    out.end([1, 1, 1], 200, 0, 2, 2);
    engine.drain(at(2));
    let request = engine.take_metrics(at(3)).expect("metrics");
    let sum = metric(&request, "http.server.active_requests", 7).expect("a sum");
    // A number that falls is cumulative, and not monotonic.
    assert_eq!(number(&sum, 2), 2);
    assert!(!sum.contains_key(&3));
    let point = sum[&1][0].message();
    assert_eq!(
        attributes(&point, 7),
        ["http.request.method=GET", "url.scheme=http"]
    );
    assert_eq!(number(&point, 6), 2);
    assert_eq!(number(&point, 2), 1_000_000_000_000);
}
