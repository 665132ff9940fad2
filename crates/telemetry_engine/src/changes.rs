//! Changes that JavaScript makes to the span of a request.

use std::collections::VecDeque;

use telemetry_ring::Record;
use telemetry_ring::wire::change;

use crate::fields::Fields;
use crate::head::ATTRIBUTES;
use crate::protobuf::bytes;
use crate::shared::Shared;
use crate::texts::Texts;

/// Max bytes of attributes: a loop may set them for as long as a request lasts.
const MAX_ATTRIBUTE_BYTES: usize = 1 << 20;
/// Max events, and links, of a span: the defaults of the specification.
const MAX_LISTED: usize = 128;

/// Fields of Span.
pub(crate) const EVENTS: u32 = 11;
pub(crate) const LINKS: u32 = 13;

/// The values of a span's status.
pub(crate) mod status {
    pub const UNSET: u32 = 0;
    pub const OK: u32 = 1;
    pub const ERROR: u32 = 2;
}

/// A status and its message.
#[derive(Debug, Default)]
pub(crate) struct Status {
    pub code: u32,
    pub message: String,
}

impl Status {
    /// Follows the SDK: unset changes nothing, ok is final, and only an error has a message.
    pub fn set(&mut self, code: u32, message: &str) {
        if code == status::UNSET || code > status::ERROR || self.code == status::OK {
            return;
        }
        self.code = code;
        self.message.clear();
        if code == status::ERROR {
            self.message.push_str(message);
        }
    }

    /// Writes the content of a message Status.
    pub fn write(&self, out: &mut Vec<u8>) {
        if !self.message.is_empty() {
            bytes(out, 2, self.message.as_bytes());
        }
        crate::protobuf::number(out, 3, self.code.into());
    }
}

/// Events or links, encoded as fields of a span. The oldest leave.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    pub fields: VecDeque<Vec<u8>>,
    pub dropped: u32,
}

impl Listed {
    fn push(&mut self, field: Vec<u8>) {
        if self.fields.len() == MAX_LISTED {
            self.fields.pop_front();
            self.dropped += 1;
        }
        self.fields.push_back(field);
    }
}

/// Changes of a span.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// Attributes, encoded as fields of a span, one after another.
    pub attributes: Vec<u8>,
    pub name: Option<String>,
    pub status: Status,
    pub events: Listed,
    pub links: Listed,
    pub is_sampled: Option<bool>,
    pub route: Option<u32>,
}

impl Changes {
    /// Applies a CHANGE; `None` if it makes no sense.
    pub fn apply(&mut self, record: Record<'_>, texts: &Texts, shared: &Shared) -> Option<()> {
        let limit = shared.settings.attribute_value_length_limit;
        let mut fields = Fields::new(record, change::FIELDS, texts, limit);
        match record.word(change::OPERATION) {
            change::ATTRIBUTES if self.attributes.len() > MAX_ATTRIBUTE_BYTES => return None,
            change::ATTRIBUTES => {
                let mut written = Vec::new();
                fields.attributes(&mut written, ATTRIBUTES)?;
                self.attributes.append(&mut written);
            }
            change::NAME => self.name = Some(fields.text()?.into_owned()),
            change::STATUS => {
                let code = fields.word()?;
                self.status.set(code, &fields.text()?);
            }
            change::EVENT => {
                let mut event = Vec::new();
                fields.event(&mut event, EVENTS, shared.clock)?;
                self.events.push(event);
            }
            change::LINK => {
                let mut link = Vec::new();
                fields.link(&mut link, LINKS)?;
                self.links.push(link);
            }
            change::SAMPLED => self.is_sampled = Some(fields.word()? != 0),
            change::ROUTE => self.route = Some(fields.word()?),
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_set_as_the_sdk_sets_it() {
        let mut status = Status::default();
        status.set(status::ERROR, "first");
        status.set(status::UNSET, "");
        assert_eq!((status.code, &*status.message), (status::ERROR, "first"));
        status.set(status::ERROR, "");
        assert_eq!((status.code, &*status.message), (status::ERROR, ""));
        status.set(status::OK, "ignored");
        status.set(status::ERROR, "late");
        assert_eq!((status.code, &*status.message), (status::OK, ""));
    }

    #[test]
    fn the_oldest_events_leave() {
        let mut events = Listed::default();
        for number in 0..130 {
            events.push(vec![number]);
        }
        assert_eq!((events.fields.len(), events.dropped), (128, 2));
        assert_eq!(events.fields[0], [2]);
    }
}
