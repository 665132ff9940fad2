//! Values that cross between JavaScript and the engine.

use napi::{Error, Result};
use napi_derive::napi;
use telemetry_engine::{Attribute, Counts, Sampler, Settings, Value};

/// An attribute of the resource: one of its values is there.
#[napi(object)]
pub struct JsAttribute {
    /// Its name.
    pub key: String,
    /// A text.
    pub text: Option<String>,
    /// A number.
    pub number: Option<f64>,
    /// A boolean.
    pub is_true: Option<bool>,
    /// A list of texts.
    pub texts: Option<Vec<String>>,
}

/// Settings of the engine.
#[napi(object)]
pub struct JsSettings {
    /// Attributes of the resource.
    pub resource: Vec<JsAttribute>,
    /// Max bytes of encoded spans that wait to be sent.
    pub max_bytes: f64,
    /// `always_on`, `always_off` or `ratio`, for requests that JavaScript does not decide on.
    pub sampler: String,
    /// The share of traces, with `ratio`.
    pub ratio: f64,
    /// True if a request that continues a trace follows its decision.
    pub is_parent_based: bool,
    /// Max attributes of a request's span; 0xffffffff for none.
    pub attribute_count_limit: u32,
    /// Max length of their texts; 0xffffffff for none.
    pub attribute_value_length_limit: u32,
    /// Query parameters whose values are not shown.
    pub redacted_parameters: Vec<String>,
    /// Upper bounds of the buckets of durations, in seconds.
    pub boundaries: Vec<f64>,
    /// True if OTLP gets the difference since the last time.
    pub is_delta: bool,
}

/// Counts of the engine.
#[napi(object)]
pub struct JsCounts {
    /// Spans that were encoded.
    pub spans: f64,
    /// Spans that wait to be sent.
    pub waiting_spans: f64,
    /// Their bytes.
    pub waiting_bytes: f64,
    /// Spans that were dropped, because too many bytes waited.
    pub dropped_spans: f64,
    /// Records that did not fit in their ring, or that made no sense.
    pub lost_records: f64,
    /// Requests that began.
    pub requests: f64,
}

impl From<JsAttribute> for Attribute {
    fn from(attribute: JsAttribute) -> Self {
        let value = match attribute {
            JsAttribute {
                texts: Some(texts), ..
            } => Value::Texts(texts),
            JsAttribute {
                number: Some(number),
                ..
            } => Value::Number(number),
            JsAttribute {
                is_true: Some(flag),
                ..
            } => Value::Flag(flag),
            JsAttribute { text, .. } => Value::Text(text.unwrap_or_default()),
        };
        Self {
            key: attribute.key,
            value,
        }
    }
}

impl TryFrom<JsSettings> for Settings {
    type Error = Error;

    fn try_from(settings: JsSettings) -> Result<Self> {
        let sampler = match settings.sampler.as_str() {
            "always_on" => Sampler::AlwaysOn,
            "always_off" => Sampler::AlwaysOff,
            "ratio" => Sampler::Ratio(settings.ratio),
            other => {
                return Err(Error::from_reason(format!(
                    "`sampler` must be always_on, always_off or ratio; got {other}"
                )));
            }
        };
        if !settings.boundaries.is_sorted_by(|one, other| one < other) {
            return Err(Error::from_reason(format!(
                "`boundaries` must ascend; got {:?}",
                settings.boundaries
            )));
        }
        Ok(Self {
            resource: settings.resource.into_iter().map(Into::into).collect(),
            max_bytes: settings.max_bytes as usize,
            sampler,
            is_parent_based: settings.is_parent_based,
            attribute_count_limit: settings.attribute_count_limit,
            attribute_value_length_limit: settings.attribute_value_length_limit,
            redacted_parameters: settings.redacted_parameters,
            boundaries: settings.boundaries,
            is_delta: settings.is_delta,
        })
    }
}

impl From<Counts> for JsCounts {
    fn from(counts: Counts) -> Self {
        Self {
            spans: counts.spans as f64,
            waiting_spans: counts.waiting_spans as f64,
            waiting_bytes: counts.waiting_bytes as f64,
            dropped_spans: counts.dropped_spans as f64,
            lost_records: counts.lost_records as f64,
            requests: counts.requests as f64,
        }
    }
}
