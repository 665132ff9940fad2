//! A distribution in buckets.

/// Counts of values between boundaries.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Histogram {
    /// One more than boundaries.
    pub counts: Box<[u64]>,
    pub count: u64,
    pub sum: f64,
    pub min: f64,
    pub max: f64,
}

impl Histogram {
    pub fn new(boundaries: usize) -> Self {
        Self {
            counts: vec![0; boundaries + 1].into_boxed_slice(),
            count: 0,
            sum: 0.0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
        }
    }

    /// Counts a value; a boundary belongs to the bucket below it.
    pub fn record(&mut self, boundaries: &[f64], value: f64) {
        let bucket = boundaries.partition_point(|boundary| *boundary < value);
        self.counts[bucket] += 1;
        self.count += 1;
        self.sum += value;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_in_their_buckets() {
        let boundaries = [0.1, 1.0];
        let mut histogram = Histogram::new(boundaries.len());
        for value in [0.05, 0.1, 0.5, 2.0] {
            histogram.record(&boundaries, value);
        }
        assert_eq!(*histogram.counts, [2, 1, 1]);
        assert_eq!(
            (histogram.count, histogram.min, histogram.max),
            (4, 0.05, 2.0)
        );
        assert!((histogram.sum - 2.65).abs() < 1e-9);
    }
}
