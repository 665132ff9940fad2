//! A filter that rules out header names.

/// Stores the lengths and first letters of some header names: that rules out most others without examining the rest.
pub(crate) struct NameFilter([u32; 32]);

impl NameFilter {
    pub const fn of(names: &[&str]) -> Self {
        let mut letters = [0; 32];
        let mut at = 0;
        while at < names.len() {
            let name = names[at].as_bytes();
            letters[name.len()] |= 1 << letter(name[0]);
            at += 1;
        }
        Self(letters)
    }

    /// Combines the names of both.
    pub const fn and(mut self, other: &Self) -> Self {
        let mut length = 0;
        while length < self.0.len() {
            self.0[length] |= other.0[length];
            length += 1;
        }
        self
    }

    /// Returns true if a name of that length, with that first byte in either case, could be one of them.
    #[inline]
    pub fn lets_through(&self, length: usize, first: u8) -> bool {
        match self.0.get(length) {
            Some(letters) => letters >> letter(first) & 1 == 1,
            None => false,
        }
    }
}

/// Returns the same number for a letter in either case.
const fn letter(byte: u8) -> u32 {
    byte as u32 & 31
}

#[cfg(test)]
mod tests {
    use super::NameFilter;

    #[test]
    fn the_names_get_through_and_few_others() {
        let filter = NameFilter::of(&["host", "expect", "upgrade"]);
        let lets_through = |name: &str| filter.lets_through(name.len(), name.as_bytes()[0]);
        for name in ["Host", "HOST", "expect", "Upgrade"] {
            assert!(lets_through(name), "{name}");
        }
        let long = "h".repeat(32);
        for name in ["accept", "cookie", "range", "h", &long] {
            assert!(!lets_through(name), "{name}");
        }
    }
}
