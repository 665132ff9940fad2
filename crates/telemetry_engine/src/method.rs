//! Request methods, as the conventions name them.

/// The methods that an attribute shows; the others are `_OTHER`.
const KNOWN: [&str; 10] = [
    "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY",
];

/// A request method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Method(u8);

impl Method {
    pub fn of(name: &[u8]) -> Self {
        let index = KNOWN
            .iter()
            .position(|known| name.eq_ignore_ascii_case(known.as_bytes()));
        Self(index.unwrap_or(KNOWN.len()) as u8)
    }

    pub fn name(self) -> &'static str {
        KNOWN.get(usize::from(self.0)).copied().unwrap_or("_OTHER")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_methods_are_other() {
        for (name, expected) in [
            ("GET", "GET"),
            ("QUERY", "QUERY"),
            ("get", "GET"),
            ("PURGE", "_OTHER"),
            ("", "_OTHER"),
        ] {
            assert_eq!(Method::of(name.as_bytes()).name(), expected);
        }
    }
}
