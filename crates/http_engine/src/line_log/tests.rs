use super::*;

fn plan() -> LinePlan {
    let bytes = |text: &str| text.as_bytes().into();
    LinePlan {
        begins: [
            Begin::Bytes(bytes("{\"level\":30")),
            Begin::Bytes(bytes("{\"level\":40")),
            Begin::Bytes(bytes("{\"level\":50")),
        ],
        before_time: bytes(""),
        clock: Clock::None,
        before_id: bytes(",\"reqId\":"),
        before_duration: bytes(",\"responseTime\":"),
        ends: [
            bytes(",\"msg\":\"request completed\"}\n"),
            bytes(",\"msg\":\"request errored\"}\n"),
        ],
        id_prefix: bytes("abc-"),
        share: 1.0,
        due_bytes: 64 * 1024,
    }
}

fn log(plan: LinePlan) -> LineLog {
    let mut log = LineLog::default();
    log.set_plan(Some(plan));
    log
}

fn response<'a>(url: &'a str, status: u16, id: Option<&'a str>) -> LoggedResponse<'a> {
    LoggedResponse {
        is_head: false,
        url: url.as_bytes(),
        status,
        id: id.map(str::as_bytes),
        took: ResponseTime::Since(sys::now()),
    }
}

fn taken(log: &mut LineLog) -> String {
    let mut into = vec![0; 2 * MAX_WAITING];
    let length = log.take(&mut into);
    into.truncate(length);
    String::from_utf8(into).expect("text")
}

/// Removes the durations, which differ from run to run.
fn without_durations(lines: &str) -> String {
    let mut shown = String::new();
    for line in lines.lines() {
        let (before, rest) = line.split_once("\"responseTime\":").expect("a duration");
        let (duration, behind) = rest.split_once(',').expect("what follows");
        let (millis, micros) = duration.split_once('.').expect("three decimals");
        assert!(
            millis.parse::<u64>().is_ok() && micros.len() == 3,
            "{duration}"
        );
        shown += &format!("{before}\"responseTime\":T,{behind}\n");
    }
    shown
}

#[test]
fn a_line_has_the_fields_of_the_slim_line_in_their_order() {
    let mut log = log(plan());
    log.write(&response("/items?a=1", 200, Some("7f:/=@~")));
    log.write(&LoggedResponse {
        is_head: true,
        ..response("/\"\\\"", 404, None)
    });
    log.write(&response("/", 503, None));
    assert_eq!(
        without_durations(&taken(&mut log)),
        "{\"level\":30,\"reqId\":\"7f:/=@~\",\"method\":\"GET\",\"url\":\"/items?a=1\",\"statusCode\":200,\"responseTime\":T,\"msg\":\"request completed\"}\n\
         {\"level\":40,\"reqId\":\"abc-000\",\"method\":\"HEAD\",\"url\":\"/\\\"\\\\\\\"\",\"statusCode\":404,\"responseTime\":T,\"msg\":\"request completed\"}\n\
         {\"level\":50,\"reqId\":\"abc-001\",\"method\":\"GET\",\"url\":\"/\",\"statusCode\":503,\"responseTime\":T,\"msg\":\"request errored\"}\n"
    );
}

#[test]
fn an_id_of_a_client_is_used_if_it_is_safe() {
    let long = "a".repeat(129);
    for (id, is_used) in [
        ("a-B_9.:/+=@~", true),
        (&long[..128], true),
        (&long, false),
        ("", false),
        ("a b", false),
        ("a\"b", false),
        ("a,b", false),
        ("\u{e9}", false),
    ] {
        let mut log = log(plan());
        log.write(&response("/", 200, Some(id)));
        let shown = taken(&mut log);
        let wanted = if is_used { id } else { "abc-000" };
        assert!(
            shown.contains(&format!(",\"reqId\":\"{wanted}\",")),
            "{shown}"
        );
    }
}

#[test]
fn ids_of_the_engine_are_never_given_twice() {
    let mut ids = Ids::new(b"p-");
    let mut seen = std::collections::HashSet::new();
    let mut at_40_000 = Vec::new();
    for count in 0..40_001 {
        let mut id = Vec::new();
        ids.push_next(&mut id);
        if count == 40_000 {
            at_40_000.clone_from(&id);
        }
        assert!(seen.insert(id));
    }
    assert_eq!(at_40_000, b"p-14000");
}

#[test]
fn times_are_those_of_pino() {
    let at =
        |clock, millis| String::from_utf8(Stamp::new(clock).at(millis).to_vec()).expect("text");
    assert_eq!(at(Clock::Millis, 1_700_000_000_123), "1700000000123");
    assert_eq!(at(Clock::Seconds, 1_700_000_000_499), "1700000000");
    assert_eq!(at(Clock::Seconds, 1_700_000_000_500), "1700000001");
    assert_eq!(
        at(Clock::Iso, 1_700_000_000_023),
        "2023-11-14T22:13:20.023Z"
    );
    assert_eq!(at(Clock::Iso, 951_827_696_789), "2000-02-29T12:34:56.789Z");
    assert_eq!(at(Clock::None, 5), "");
}

#[test]
fn a_level_that_is_off_has_no_line_and_one_that_only_the_owner_can_write_no_response() {
    let mut log = log(LinePlan {
        begins: [
            Begin::Off,
            Begin::Owner,
            Begin::Bytes(b"{".as_slice().into()),
        ],
        ..plan()
    });
    assert_eq!(log.admission(304, b"/"), Admission::Engine);
    assert_eq!(log.write(&response("/", 304, None)), News::Nothing);
    assert_eq!(log.admission(400, b"/"), Admission::Owner);
    assert_eq!(log.admission(500, b"/"), Admission::Engine);
    assert!(log.is_empty());
}

#[test]
fn a_share_of_the_good_responses_has_a_line_and_every_error() {
    let mut log = log(LinePlan {
        share: 0.25,
        ..plan()
    });
    for _ in 0..2000 {
        log.write(&response("/", 200, None));
    }
    let some = taken(&mut log).lines().count();
    assert!((350..650).contains(&some), "{some} of 2000");
    for _ in 0..10 {
        log.write(&response("/", 404, None));
    }
    assert_eq!(taken(&mut log).lines().count(), 10);
}

#[test]
fn the_owner_hears_of_the_first_line_and_of_the_one_that_makes_them_due() {
    let mut log = log(LinePlan {
        due_bytes: 300,
        ..plan()
    });
    let write = |log: &mut LineLog| log.write(&response("/", 200, None));
    assert_eq!(write(&mut log), News::Some);
    assert_eq!(write(&mut log), News::Nothing);
    assert_eq!(write(&mut log), News::Due);
    assert_eq!(write(&mut log), News::Nothing);
    taken(&mut log);
    assert_eq!(write(&mut log), News::Some);
}

#[test]
fn a_full_log_admits_nothing_until_lines_are_taken_and_they_are_taken_whole() {
    let mut log = log(plan());
    let mut written = 0;
    let url = format!("/{}", "\"".repeat(400));
    while log.admission(200, url.as_bytes()) == Admission::Engine {
        log.write(&response(&url, 200, None));
        written += 1;
        assert!(log.lines.len() <= MAX_WAITING);
    }
    assert!(log.lines.len() > MAX_WAITING / 2);
    let mut into = vec![0; 10_000];
    let length = log.take(&mut into);
    assert_eq!(into[length - 1], b'\n');
    assert_eq!(log.admission(200, url.as_bytes()), Admission::Engine);
    let first = memchr::memchr_iter(b'\n', &into[..length]).count();
    assert_eq!(first + taken(&mut log).lines().count(), written);
    assert_eq!(log.admission(200, &[b'a'; 30 * 1024]), Admission::Engine);
    // Exceeds the owner's room.
    assert_eq!(log.admission(200, &[b'a'; 33 * 1024]), Admission::Owner);
    // A line that does not fit is not cut.
    log.write(&response(&url, 200, None));
    assert_eq!(log.take(&mut [0; 100]), 0);
    assert!(!log.is_empty());
}

#[test]
fn a_held_log_admits_nothing_and_keeps_its_lines() {
    let mut log = log(plan());
    log.write(&response("/", 200, None));
    log.close();
    assert_eq!(log.admission(200, b"/"), Admission::Owner);
    assert_eq!(taken(&mut log).lines().count(), 1);
}

#[test]
fn a_new_plan_keeps_what_waits() {
    let mut log = log(plan());
    log.write(&response("/", 200, None));
    log.set_plan(None);
    assert_eq!(log.write(&response("/", 200, None)), News::Nothing);
    assert_eq!(taken(&mut log).lines().count(), 1);
}
