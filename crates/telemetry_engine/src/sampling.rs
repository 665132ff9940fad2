//! Sampling of the head, by the trace id, as `TraceIdRatioBasedSampler` and `ParentBasedSampler` of `@opentelemetry/sdk-trace`
//! do it.

use crate::settings::{Sampler, Settings};

/// Decides on traces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sampling {
    /// Traces are recorded whose number is below it.
    bound: u64,
    is_parent_based: bool,
}

impl Sampling {
    pub fn new(settings: &Settings) -> Self {
        let ratio = match settings.sampler {
            Sampler::AlwaysOn => 1.0,
            Sampler::AlwaysOff => 0.0,
            Sampler::Ratio(ratio) => ratio,
        };
        // `as` rounds towards zero; what is not a number is 0.
        let bound = if ratio >= 1.0 {
            1 << 32
        } else {
            (ratio.max(0.0) * f64::from(u32::MAX)) as u64
        };
        Self {
            bound,
            is_parent_based: settings.is_parent_based,
        }
    }

    /// Returns true if a trace is recorded. `parent` is the decision of a caller.
    pub fn is_sampled(self, trace_id: &[u8; 16], parent: Option<bool>) -> bool {
        match parent {
            Some(is_sampled) if self.is_parent_based => is_sampled,
            _ => {
                let (words, _) = trace_id.as_chunks::<4>();
                let number = words
                    .iter()
                    .fold(0, |sum, word| sum ^ u32::from_be_bytes(*word));
                u64::from(number) < self.bound
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampling(sampler: Sampler, is_parent_based: bool) -> Sampling {
        Sampling::new(&Settings {
            resource: Vec::new(),
            max_bytes: 0,
            sampler,
            is_parent_based,
            attribute_count_limit: 0,
            attribute_value_length_limit: 0,
            redacted_parameters: Vec::new(),
            boundaries: Vec::new(),
            is_delta: false,
        })
    }

    fn trace(number: u32) -> [u8; 16] {
        let mut id = [0; 16];
        id[..4].copy_from_slice(&(number ^ 1).to_be_bytes());
        id[15] = 1;
        id
    }

    #[test]
    fn a_share_of_all_traces_is_recorded() {
        let half = sampling(Sampler::Ratio(0.5), true);
        assert!(half.is_sampled(&trace(0x7fff_fffe), None));
        assert!(!half.is_sampled(&trace(0x7fff_ffff), None));
        assert!(!half.is_sampled(&trace(0xffff_ffff), None));
        for all in [Sampler::Ratio(1.0), Sampler::Ratio(2.0), Sampler::AlwaysOn] {
            assert!(sampling(all, true).is_sampled(&trace(0xffff_ffff), None));
        }
        for none in [
            Sampler::Ratio(0.0),
            Sampler::Ratio(-1.0),
            Sampler::Ratio(f64::NAN),
            Sampler::AlwaysOff,
        ] {
            assert!(!sampling(none, true).is_sampled(&trace(1), None));
        }
    }

    #[test]
    fn a_caller_decides_if_it_may() {
        for (is_parent_based, expected) in [(true, true), (false, false)] {
            let off = sampling(Sampler::AlwaysOff, is_parent_based);
            assert_eq!(off.is_sampled(&trace(1), Some(true)), expected);
            let on = sampling(Sampler::AlwaysOn, is_parent_based);
            assert_eq!(on.is_sampled(&trace(1), Some(false)), !expected);
        }
    }
}
