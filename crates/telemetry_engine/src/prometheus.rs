//! Counts of requests in Prometheus' text format 0.0.4, with the names that OpenTelemetry gives them there.

use std::fmt::Write;

use crate::metrics::{Label, Metrics, active_labels};
use crate::metrics_otlp::{ACTIVE, DURATION, Described};
use crate::settings::{Attribute, Value};
use crate::shared::SCOPE;

impl Metrics {
    /// Returns the text of all metrics.
    pub fn prometheus(&self, resource: &[Attribute]) -> String {
        let mut out = String::new();
        out.push_str("# HELP target_info Target metadata\n# TYPE target_info gauge\n");
        let mut labels = Labels::default();
        for Attribute { key, value } in resource {
            labels.push(key, &text_of(value));
        }
        labels.write(&mut out, "target_info", "1");
        if !self.series.is_empty() {
            self.write_duration_lines(&mut out);
        }
        if !self.active.is_empty() {
            let name = "http_server_active_requests";
            write_head(&mut out, name, &ACTIVE, "gauge");
            for ((method, is_tls), count) in &self.active {
                let mut labels = Labels::of_scope();
                active_labels(*method, *is_tls, |name, label| {
                    labels.push_label(name, &label)
                });
                labels.write(&mut out, name, &count.to_string());
            }
        }
        out
    }

    fn write_duration_lines(&self, out: &mut String) {
        let name = "http_server_request_duration_seconds";
        write_head(out, name, &DURATION, "histogram");
        let bounds: Vec<String> = self.boundaries.iter().map(f64::to_string).collect();
        for series in &self.series {
            let mut labels = Labels::of_scope();
            self.labels(series, |name, label| labels.push_label(name, &label));
            let histogram = &series.total;
            labels.write(out, &format!("{name}_count"), &histogram.count.to_string());
            labels.write(out, &format!("{name}_sum"), &histogram.sum.to_string());
            let mut below = 0;
            let all = bounds.iter().map(String::as_str).chain(["+Inf"]);
            for (bound, count) in all.zip(&histogram.counts) {
                below += count;
                let mut bucket = labels.clone();
                bucket.push("le", bound);
                bucket.write(out, &format!("{name}_bucket"), &below.to_string());
            }
        }
    }
}

fn write_head(out: &mut String, name: &str, described: &Described, kind: &str) {
    let description = described.description;
    out.push_str(&format!(
        "# HELP {name} {description}\n# TYPE {name} {kind}\n"
    ));
}

/// Labels of a sample, as they are written.
#[derive(Clone, Default)]
struct Labels(String);

impl Labels {
    fn of_scope() -> Self {
        let mut labels = Self::default();
        labels.push("otel_scope_name", SCOPE);
        labels
    }

    fn push_label(&mut self, name: &str, label: &Label<'_>) {
        match label {
            Label::Text(text) => self.push(name, text),
            Label::Number(number) => self.push(name, &number.to_string()),
            Label::True => self.push(name, "true"),
        }
    }

    fn push(&mut self, name: &str, value: &str) {
        if !self.0.is_empty() {
            self.0.push(',');
        }
        push_name(&mut self.0, name);
        self.0.push_str("=\"");
        for character in value.chars() {
            match character {
                '\\' => self.0.push_str("\\\\"),
                '"' => self.0.push_str("\\\""),
                '\n' => self.0.push_str("\\n"),
                other => self.0.push(other),
            }
        }
        self.0.push('"');
    }

    fn write(&self, out: &mut String, name: &str, value: &str) {
        let labels = &self.0;
        // Writing to a string cannot fail.
        let _ = if labels.is_empty() {
            writeln!(out, "{name} {value}")
        } else {
            writeln!(out, "{name}{{{labels}}} {value}")
        };
    }
}

/// Replaces all but letters, digits and underscores, of which one stands for several.
fn push_name(out: &mut String, name: &str) {
    let start = out.len();
    for (at, character) in name.char_indices() {
        match character {
            'a'..='z' | 'A'..='Z' => out.push(character),
            '0'..='9' if at > 0 => out.push(character),
            '0'..='9' => {
                out.push('_');
                out.push(character);
            }
            _ if out.len() > start && out.ends_with('_') => {}
            _ => out.push('_'),
        }
    }
}

fn text_of(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Flag(flag) => flag.to_string(),
        Value::Texts(texts) => {
            let texts: Vec<String> = texts.iter().map(|text| format!("{text:?}")).collect();
            format!("[{}]", texts.join(","))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::head::Connected;
    use crate::method::Method;
    use crate::metrics::{Key, Outcome};

    fn attribute(key: &str, value: Value) -> Attribute {
        Attribute {
            key: key.to_owned(),
            value,
        }
    }

    #[test]
    fn counts_are_written_as_prometheus_reads_them() {
        let mut metrics = Metrics::new(vec![0.005, 1.0], false, 0);
        let route = metrics.route("/a\\\"b\n");
        let method = Method::of(b"GET");
        let how = Connected {
            is_tls: false,
            is_http_10: false,
        };
        metrics.begin(method, how);
        metrics.begin(method, how);
        metrics.begin(method, how);
        let key = Key {
            method,
            is_tls: false,
            is_http_10: false,
            outcome: Outcome::Status(200),
            route,
        };
        metrics.end(key, 0.25);
        metrics.end(key, 4.0);
        let resource = [
            attribute("service.name", Value::Text("shop".to_owned())),
            attribute("process.pid", Value::Number(7.0)),
            attribute("a", Value::Texts(vec!["x".to_owned(), "y".to_owned()])),
        ];
        let labels = "otel_scope_name=\"@redline/telemetry\",http_request_method=\"GET\",url_scheme=\"http\"";
        let more = format!(
            "{labels},network_protocol_version=\"1.1\",http_route=\"/a\\\\\\\"b\\n\",http_response_status_code=\"200\""
        );
        let name = "http_server_request_duration_seconds";
        assert_eq!(
            metrics.prometheus(&resource).lines().collect::<Vec<_>>(),
            [
                "# HELP target_info Target metadata",
                "# TYPE target_info gauge",
                "target_info{service_name=\"shop\",process_pid=\"7\",a=\"[\\\"x\\\",\\\"y\\\"]\"} 1",
                "# HELP http_server_request_duration_seconds Duration of HTTP server requests.",
                "# TYPE http_server_request_duration_seconds histogram",
                &format!("{name}_count{{{more}}} 2"),
                &format!("{name}_sum{{{more}}} 4.25"),
                &format!("{name}_bucket{{{more},le=\"0.005\"}} 0"),
                &format!("{name}_bucket{{{more},le=\"1\"}} 1"),
                &format!("{name}_bucket{{{more},le=\"+Inf\"}} 2"),
                "# HELP http_server_active_requests Number of active HTTP server requests.",
                "# TYPE http_server_active_requests gauge",
                &format!("http_server_active_requests{{{labels}}} 1"),
            ]
        );
    }

    #[test]
    fn names_of_labels_have_no_other_characters() {
        let mut out = String::new();
        push_name(&mut out, "1a.b-.c\u{e9}");
        assert_eq!(out, "_1a_b_c_");
    }

    #[test]
    fn without_counts_there_is_the_target_alone() {
        let text = Metrics::new(Vec::new(), false, 0).prometheus(&[]);
        assert!(text.ends_with("\ntarget_info 1\n"), "{text}");
    }
}
