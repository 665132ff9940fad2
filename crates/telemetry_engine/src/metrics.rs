//! Counts of requests: how long they took, and how many are under way.

use std::collections::{BTreeMap, HashMap};

use crate::hash::NumberMap;
use crate::head::Connected;
use crate::histogram::Histogram;
use crate::method::Method;

/// Max number of series, that of all others included.
const MAX_SERIES: usize = 2_000;
/// Max number of routes that have series.
const MAX_ROUTES: usize = 4_096;

/// The number of a route among those that have series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum RouteNumber {
    /// No route.
    None,
    /// An index of the routes.
    Known(u32),
    /// One of too many.
    Other,
}

/// The end of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Outcome {
    /// With a status.
    Status(u16),
    /// Its client has left before.
    Closed,
}

impl Outcome {
    /// The value of `error.type`.
    pub fn error_type(self) -> Option<String> {
        match self {
            Self::Status(status @ 500..600) => Some(status.to_string()),
            Self::Status(_) => None,
            Self::Closed => Some("ECONNRESET".to_owned()),
        }
    }
}

/// The values that distinguish a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub method: Method,
    pub is_tls: bool,
    pub is_http_10: bool,
    pub outcome: Outcome,
    pub route: RouteNumber,
}

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Label<'a> {
    Text(&'a str),
    Number(u64),
    True,
}

/// A series of durations.
pub(crate) struct Series {
    /// `None` for the series of all keys beyond the bound.
    key: Option<Key>,
    pub total: Histogram,
    /// Counts since they were taken, if the difference is sent.
    pub since: Option<Histogram>,
}

/// Counts of requests.
pub(crate) struct Metrics {
    pub boundaries: Vec<f64>,
    pub is_delta: bool,
    /// Start of the counts, in nanoseconds since 1970; of the difference, if that is sent.
    pub start: u64,
    pub series: Vec<Series>,
    /// Requests under way, by method and whether they are encrypted.
    pub active: BTreeMap<(Method, bool), i64>,
    by_key: NumberMap<Key, usize>,
    overflow: Option<usize>,
    routes: Vec<Box<str>>,
    route_numbers: HashMap<Box<str>, u32>,
    /// Number of requests that began.
    pub requests: u64,
}

impl Metrics {
    pub fn new(boundaries: Vec<f64>, is_delta: bool, start: u64) -> Self {
        Self {
            boundaries,
            is_delta,
            start,
            series: Vec::new(),
            active: BTreeMap::new(),
            by_key: NumberMap::default(),
            overflow: None,
            routes: Vec::new(),
            route_numbers: HashMap::new(),
            requests: 0,
        }
    }

    /// Returns the number of a route.
    pub fn route(&mut self, pattern: &str) -> RouteNumber {
        if pattern.is_empty() {
            return RouteNumber::None;
        }
        if let Some(number) = self.route_numbers.get(pattern) {
            return RouteNumber::Known(*number);
        }
        if self.routes.len() == MAX_ROUTES {
            return RouteNumber::Other;
        }
        let number = self.routes.len() as u32;
        self.routes.push(pattern.into());
        self.route_numbers.insert(pattern.into(), number);
        RouteNumber::Known(number)
    }

    pub fn begin(&mut self, method: Method, how: Connected) {
        self.requests += 1;
        *self.active.entry((method, how.is_tls)).or_default() += 1;
    }

    /// Counts a request as over without its duration.
    pub fn leave(&mut self, method: Method, how: Connected) {
        *self.active.entry((method, how.is_tls)).or_default() -= 1;
    }

    pub fn end(&mut self, key: Key, seconds: f64) {
        *self.active.entry((key.method, key.is_tls)).or_default() -= 1;
        let index = match self.by_key.get(&key) {
            Some(index) => *index,
            None => self.add(key),
        };
        let series = &mut self.series[index];
        series.total.record(&self.boundaries, seconds);
        if let Some(since) = &mut series.since {
            since.record(&self.boundaries, seconds);
        }
    }

    fn add(&mut self, key: Key) -> usize {
        let is_over = key.route == RouteNumber::Other || self.by_key.len() >= MAX_SERIES - 1;
        if let Some(index) = self.overflow.filter(|_| is_over) {
            return index;
        }
        let index = self.series.len();
        let histogram = Histogram::new(self.boundaries.len());
        self.series.push(Series {
            key: (!is_over).then_some(key),
            since: self.is_delta.then(|| histogram.clone()),
            total: histogram,
        });
        if is_over {
            self.overflow = Some(index);
        } else {
            self.by_key.insert(key, index);
        }
        index
    }

    /// Passes the attributes of a series.
    pub fn labels(&self, series: &Series, mut pass: impl FnMut(&str, Label<'_>)) {
        let Some(key) = series.key else {
            pass("otel.metric.overflow", Label::True);
            return;
        };
        let how = Connected {
            is_tls: key.is_tls,
            is_http_10: key.is_http_10,
        };
        active_labels(key.method, key.is_tls, &mut pass);
        pass("network.protocol.version", Label::Text(how.version()));
        if let RouteNumber::Known(number) = key.route {
            pass("http.route", Label::Text(&self.routes[number as usize]));
        }
        if let Outcome::Status(status) = key.outcome {
            pass("http.response.status_code", Label::Number(status.into()));
        }
        if let Some(error) = key.outcome.error_type() {
            pass("error.type", Label::Text(&error));
        }
    }
}

/// Passes the attributes of requests under way.
pub(crate) fn active_labels(method: Method, is_tls: bool, mut pass: impl FnMut(&str, Label<'_>)) {
    let how = Connected {
        is_tls,
        is_http_10: false,
    };
    pass("http.request.method", Label::Text(method.name()));
    pass("url.scheme", Label::Text(how.scheme()));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(status: u16, route: RouteNumber) -> Key {
        Key {
            method: Method::of(b"GET"),
            is_tls: false,
            is_http_10: false,
            outcome: Outcome::Status(status),
            route,
        }
    }

    fn labels(metrics: &Metrics, index: usize) -> Vec<String> {
        let mut out = Vec::new();
        metrics.labels(&metrics.series[index], |name, label| {
            out.push(format!("{name}={label:?}"));
        });
        out
    }

    #[test]
    fn series_have_attributes() {
        let mut metrics = Metrics::new(vec![1.0], false, 0);
        let route = metrics.route("/users/:id");
        assert_eq!(metrics.route("/users/:id"), route);
        metrics.end(key(503, route), 0.5);
        metrics.end(
            Key {
                outcome: Outcome::Closed,
                ..key(0, RouteNumber::None)
            },
            0.5,
        );
        assert_eq!(
            labels(&metrics, 0),
            [
                "http.request.method=Text(\"GET\")",
                "url.scheme=Text(\"http\")",
                "network.protocol.version=Text(\"1.1\")",
                "http.route=Text(\"/users/:id\")",
                "http.response.status_code=Number(503)",
                "error.type=Text(\"503\")"
            ]
        );
        assert_eq!(
            labels(&metrics, 1)[3..],
            ["error.type=Text(\"ECONNRESET\")"]
        );
    }

    #[test]
    fn series_beyond_the_bound_are_one() {
        let mut metrics = Metrics::new(vec![1.0], false, 0);
        for number in 0..2_100 {
            let route = metrics.route(&format!("/{number}"));
            metrics.end(key(200, route), 0.5);
        }
        assert_eq!(metrics.series.len(), MAX_SERIES);
        assert_eq!(
            labels(&metrics, MAX_SERIES - 1),
            ["otel.metric.overflow=True"]
        );
        assert_eq!(metrics.series[MAX_SERIES - 1].total.count, 101);
        metrics.end(key(200, RouteNumber::Known(0)), 0.5);
        assert_eq!(metrics.series[0].total.count, 2);
    }

    #[test]
    fn routes_beyond_the_bound_are_in_that_series() {
        let mut metrics = Metrics::new(vec![1.0], false, 0);
        for number in 0..MAX_ROUTES {
            metrics.route(&format!("/{number}"));
        }
        let other = metrics.route("/other");
        assert_eq!(other, RouteNumber::Other);
        metrics.end(key(200, other), 0.5);
        assert_eq!(labels(&metrics, 0), ["otel.metric.overflow=True"]);
        assert_eq!(metrics.route(""), RouteNumber::None);
    }

    #[test]
    fn requests_under_way_are_counted() {
        let mut metrics = Metrics::new(Vec::new(), false, 0);
        let how = Connected {
            is_tls: false,
            is_http_10: false,
        };
        let get = Method::of(b"GET");
        for _ in 0..3 {
            metrics.begin(get, how);
        }
        metrics.end(key(200, RouteNumber::None), 0.5);
        metrics.leave(get, how);
        assert_eq!(metrics.active[&(get, false)], 1);
        assert_eq!(metrics.requests, 3);
    }
}
