//! Runs processes from their start to their end, on the calling thread.
#![cfg(target_os = "linux")]

use std::time::Duration;

use spawn_engine::{Environment, Limits, Outcome, Request, Stdio, run};

const UNLIMITED: Limits = Limits {
    timeout: None,
    output: None,
    signal: libc::SIGTERM,
    grace: Duration::ZERO,
};

fn shell(script: &str) -> Request {
    Request {
        file: b"/bin/sh\0".to_vec(),
        args: format!("sh\0-c\0{script}\0").into_bytes(),
        env: Environment::new(b"PATH=/usr/bin:/bin\0".to_vec()).into(),
        stdio: vec![Stdio::Pipe; 3],
        ..Request::default()
    }
}

fn run_shell(script: &str, input: &[u8], limits: Limits) -> Outcome {
    run(shell(script), input, limits).unwrap()
}

#[test]
fn input_goes_in_and_both_outputs_and_the_exit_code_come_out() {
    let outcome = run_shell("cat; echo err >&2; exit 3", b"given", UNLIMITED);
    assert_eq!((outcome.status, outcome.error), (Some((3, 0)), 0));
    let outputs = [None, Some(b"given".to_vec()), Some(b"err\n".to_vec())];
    assert_eq!(outcome.outputs, outputs);
}

#[test]
fn more_input_and_output_than_pipes_hold_is_passed_through() {
    let input = vec![b'x'; 3 << 20];
    let outcome = run_shell("exec cat", &input, UNLIMITED);
    assert_eq!((outcome.status, outcome.error), (Some((0, 0)), 0));
    assert_eq!(outcome.outputs[1].as_deref(), Some(&input[..]));
}

#[test]
fn what_takes_longer_than_the_timeout_is_killed() {
    let limits = Limits {
        timeout: Some(Duration::from_millis(50)),
        signal: libc::SIGKILL,
        grace: Duration::ZERO,
        ..UNLIMITED
    };
    let outcome = run_shell("exec sleep 1000", b"", limits);
    assert_eq!(outcome.status, Some((0, libc::SIGKILL)));
    assert_eq!(outcome.error, libc::ETIMEDOUT);
}

#[test]
fn more_output_than_the_limit_ends_the_process() {
    let limits = Limits {
        output: Some(10),
        ..UNLIMITED
    };
    let outcome = run_shell("exec yes", b"", limits);
    assert_eq!(outcome.status, Some((0, libc::SIGTERM)));
    assert_eq!(outcome.error, libc::ENOBUFS);
    assert!(
        outcome.outputs[1]
            .as_ref()
            .unwrap()
            .starts_with(b"y\ny\ny\ny\ny\ny\n")
    );
}

#[test]
fn a_grandchild_that_holds_the_output_is_not_waited_for_beyond_a_limit() {
    let limits = Limits {
        output: Some(1000),
        ..UNLIMITED
    };
    let outcome = run_shell("sleep 1000 & echo $!; exec yes", b"", limits);
    assert_eq!(outcome.error, libc::ENOBUFS);
    let text = String::from_utf8(outcome.outputs[1].clone().unwrap()).unwrap();
    let grandchild: i32 = text.lines().next().unwrap().parse().unwrap();
    // SAFETY: no memory is passed.
    assert_eq!(unsafe { libc::kill(grandchild, libc::SIGKILL) }, 0);
}

#[test]
fn what_cannot_be_started_is_an_error_of_the_call() {
    let request = Request {
        file: b"/redline-no-such-program\0".to_vec(),
        ..shell("")
    };
    assert_eq!(run(request, b"", UNLIMITED).unwrap_err(), libc::ENOENT);
}
