//! The header `tracestate`, as `@opentelemetry/core` reads it and writes it again.

use crate::latin1::trimmed;

const MAX_MEMBERS: usize = 32;
const MAX_LENGTH: usize = 512;

/// Returns the valid members; `None` if there is none.
pub(crate) fn normalized(value: &[u8]) -> Option<String> {
    let mut members: Vec<(&[u8], &[u8])> = Vec::new();
    let mut length = 0;
    for member in value.split(|byte| *byte == b',').map(trimmed) {
        let Some(at) = memchr::memchr(b'=', member) else {
            continue;
        };
        let (key, value) = (&member[..at], &member[at + 1..]);
        let longer = length + member.len() + usize::from(!members.is_empty());
        if !is_key(key) || !is_value(value) || longer > MAX_LENGTH {
            continue;
        }
        length = longer;
        match members.iter_mut().find(|(known, _)| *known == key) {
            Some(known) => known.1 = value,
            None => members.push((key, value)),
        }
        if members.len() >= MAX_MEMBERS {
            break;
        }
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let members: Vec<String> = members
        .iter()
        .map(|(key, value)| format!("{}={}", text(key), text(value)))
        .collect();
    (!members.is_empty()).then(|| members.join(","))
}

fn is_key(key: &[u8]) -> bool {
    let is_part = |part: &[u8], max: usize| {
        part.len() <= max
            && part
                .iter()
                .all(|byte| matches!(byte, b'_' | b'0'..=b'9' | b'a'..=b'z' | b'-' | b'*' | b'/'))
    };
    let mut parts = key.splitn(2, |byte| *byte == b'@');
    match (parts.next(), parts.next()) {
        (Some([b'a'..=b'z', rest @ ..]), None) => is_part(rest, 255),
        (Some([b'a'..=b'z' | b'0'..=b'9', tenant @ ..]), Some([b'a'..=b'z', system @ ..])) => {
            is_part(tenant, 240) && is_part(system, 13)
        }
        _ => false,
    }
}

fn is_value(value: &[u8]) -> bool {
    value.len() <= 256
        && value.last().is_some_and(|last| *last != b' ')
        && value
            .iter()
            .all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b',' | b'='))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: &str, expected: Option<&str>) {
        assert_eq!(normalized(value.as_bytes()).as_deref(), expected, "{value}");
    }

    #[test]
    fn members_are_kept_in_their_order() {
        check("a=1,b=2", Some("a=1,b=2"));
        check(" a=1 ,\tb=2,", Some("a=1,b=2"));
        check("tenant@system=x/y z", Some("tenant@system=x/y z"));
        check("1a@b=2", Some("1a@b=2"));
    }

    #[test]
    fn invalid_members_are_left_out() {
        check("", None);
        check("a", None);
        check("A=1,b=2", Some("b=2"));
        check("1a=1", None);
        check("a@1b=1", None);
        check("a=", None);
        check("a=1=2,b=3", Some("b=3"));
        check("a=\u{e9}", None);
        check(&format!("{}=1,b=2", "a".repeat(257)), Some("b=2"));
        check(&format!("a={},b=2", "x".repeat(257)), Some("b=2"));
    }

    #[test]
    fn the_last_value_of_a_key_stands_in_its_first_place() {
        check("a=1,b=2,a=3", Some("a=3,b=2"));
    }

    #[test]
    fn limits_hold() {
        let members: Vec<String> = (0..40).map(|number| format!("k{number}=v")).collect();
        check(&members.join(","), Some(&members[..32].join(",")));
        let long = |key: &str| format!("{key}={}", "x".repeat(248));
        let value = format!("{},{},{},d=1", long("a"), long("b"), long("c"));
        check(&value, Some(&format!("{},{},d=1", long("a"), long("b"))));
    }
}
