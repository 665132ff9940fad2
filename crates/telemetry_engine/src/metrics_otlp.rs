//! Counts of requests as an ExportMetricsServiceRequest.

use crate::attributes::{flag, integer, text};
use crate::histogram::Histogram;
use crate::metrics::{Label, Metrics, active_labels};
use crate::protobuf::{bytes, double, fixed64, message, number, packed64};
use crate::shared::SCOPE;

const DELTA: u64 = 1;
const CUMULATIVE: u64 = 2;

/// Fields of ResourceMetrics, ScopeMetrics and Metric.
const RESOURCE_METRICS: u32 = 1;
const SCOPE_METRICS: u32 = 2;
const METRICS: u32 = 2;
const SUM: u32 = 7;
const HISTOGRAM: u32 = 9;
/// Fields of Histogram and Sum.
const DATA_POINTS: u32 = 1;
const TEMPORALITY: u32 = 2;
/// Fields of all data points.
const START: u32 = 2;
const TIME: u32 = 3;

/// A metric's name, description and unit.
pub(crate) struct Described {
    pub name: &'static str,
    pub description: &'static str,
    pub unit: &'static str,
}

pub(crate) const DURATION: Described = Described {
    name: "http.server.request.duration",
    description: "Duration of HTTP server requests.",
    unit: "s",
};

pub(crate) const ACTIVE: Described = Described {
    name: "http.server.active_requests",
    description: "Number of active HTTP server requests.",
    unit: "{request}",
};

impl Metrics {
    /// Returns `None` if nothing was counted. If the difference is sent, it begins again from zero.
    pub fn take(&mut self, resource: &[u8], start: u64, now: u64) -> Option<Vec<u8>> {
        if self.series.is_empty() && self.active.is_empty() {
            return None;
        }
        let mut request = Vec::new();
        message(&mut request, RESOURCE_METRICS, |out| {
            out.extend_from_slice(resource);
            message(out, SCOPE_METRICS, |out| {
                message(out, 1, |out| bytes(out, 1, SCOPE.as_bytes()));
                self.write_durations(out, now);
                self.write_active(out, start, now);
            });
        });
        if self.is_delta {
            self.start = now;
            let empty = Histogram::new(self.boundaries.len());
            for series in &mut self.series {
                series.since = Some(empty.clone());
            }
        }
        Some(request)
    }

    fn write_durations(&self, out: &mut Vec<u8>, now: u64) {
        let counts = self.series.iter().filter_map(|series| {
            let counts = series.since.as_ref().unwrap_or(&series.total);
            (counts.count > 0).then_some((series, counts))
        });
        let mut counts = counts.peekable();
        if counts.peek().is_none() {
            return;
        }
        write_metric(out, &DURATION, HISTOGRAM, |out| {
            for (series, counts) in counts {
                message(out, DATA_POINTS, |out| {
                    self.labels(series, |name, label| write_label(out, 9, name, &label));
                    fixed64(out, START, self.start);
                    fixed64(out, TIME, now);
                    fixed64(out, 4, counts.count);
                    double(out, 5, counts.sum);
                    packed64(out, 6, counts.counts.iter().copied());
                    packed64(out, 7, self.boundaries.iter().map(|bound| bound.to_bits()));
                    double(out, 11, counts.min);
                    double(out, 12, counts.max);
                });
            }
            let temporality = if self.is_delta { DELTA } else { CUMULATIVE };
            number(out, TEMPORALITY, temporality);
        });
    }

    /// A number that rises and falls is sent as a whole, whichever temporality is wished.
    fn write_active(&self, out: &mut Vec<u8>, start: u64, now: u64) {
        if self.active.is_empty() {
            return;
        }
        write_metric(out, &ACTIVE, SUM, |out| {
            for ((method, is_tls), count) in &self.active {
                message(out, DATA_POINTS, |out| {
                    active_labels(*method, *is_tls, |name, label| {
                        write_label(out, 7, name, &label);
                    });
                    fixed64(out, START, start);
                    fixed64(out, TIME, now);
                    fixed64(out, 6, *count as u64);
                });
            }
            number(out, TEMPORALITY, CUMULATIVE);
        });
    }
}

fn write_metric(
    out: &mut Vec<u8>,
    described: &Described,
    field: u32,
    fill: impl FnOnce(&mut Vec<u8>),
) {
    message(out, METRICS, |out| {
        bytes(out, 1, described.name.as_bytes());
        bytes(out, 2, described.description.as_bytes());
        bytes(out, 3, described.unit.as_bytes());
        message(out, field, fill);
    });
}

fn write_label(out: &mut Vec<u8>, field: u32, name: &str, label: &Label<'_>) {
    match label {
        Label::Text(value) => text(out, field, name, value.as_bytes()),
        Label::Number(value) => integer(out, field, name, *value),
        Label::True => flag(out, field, name),
    }
}
