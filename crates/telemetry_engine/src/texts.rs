//! Texts and routes that JavaScript has given numbers.

/// Max number of texts, and of routes, of a source.
const MAX: usize = 1 << 16;

/// Values by numbers from 1 on.
#[derive(Debug)]
pub(crate) struct Numbered<T> {
    values: Vec<Option<T>>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { values: Vec::new() }
    }
}

impl<T> Numbered<T> {
    /// Returns false if the number is beyond the bound.
    pub fn set(&mut self, number: u32, value: T) -> bool {
        let index = number as usize;
        if index == 0 || index > MAX {
            return false;
        }
        if index >= self.values.len() {
            self.values.resize_with(index + 1, || None);
        }
        self.values[index] = Some(value);
        true
    }

    pub fn get(&self, number: u32) -> Option<&T> {
        self.values.get(number as usize)?.as_ref()
    }
}

/// A text that JavaScript has given a number.
pub(crate) type Texts = Numbered<Box<str>>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_a_bound() {
        let mut numbered = Numbered::default();
        assert!(!numbered.set(0, 'a'));
        assert!(numbered.set(3, 'b'));
        assert!(numbered.set(3, 'c'));
        assert!(numbered.set(MAX as u32, 'd'));
        assert!(!numbered.set(MAX as u32 + 1, 'e'));
        assert_eq!(numbered.get(3), Some(&'c'));
        assert_eq!(numbered.get(2), None);
        assert_eq!(numbered.get(u32::MAX), None);
    }
}
