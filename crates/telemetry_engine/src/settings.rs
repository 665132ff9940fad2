//! Settings of an engine.

/// A value of an attribute of the resource.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A text.
    Text(String),
    /// A number; it is encoded as an integer if it is one.
    Number(f64),
    /// A boolean.
    Flag(bool),
    /// A list of texts.
    Texts(Vec<String>),
}

/// An attribute of the resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// Its name.
    pub key: String,
    /// Its value.
    pub value: Value,
}

/// Decides which traces are recorded, by the trace id.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sampler {
    /// All.
    AlwaysOn,
    /// None.
    AlwaysOff,
    /// A share from 0 to 1.
    Ratio(f64),
}

/// Settings of an engine.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Attributes of the resource.
    pub resource: Vec<Attribute>,
    /// Max bytes of encoded spans that wait to be taken.
    pub max_bytes: usize,
    /// The sampler of traces that begin here.
    pub sampler: Sampler,
    /// True if a request that continues a trace follows its decision.
    pub is_parent_based: bool,
    /// Max attributes of a request's span.
    pub attribute_count_limit: u32,
    /// Max UTF-16 code units of a text in them; `u32::MAX` for none.
    pub attribute_value_length_limit: u32,
    /// Query parameters whose values are not shown.
    pub redacted_parameters: Vec<String>,
    /// Upper bounds of the buckets of durations, in seconds, ascending.
    pub boundaries: Vec<f64>,
    /// True if OTLP gets the difference since the last time.
    pub is_delta: bool,
}
