//! Spans that JavaScript has ended.

use telemetry_ring::Record;
use telemetry_ring::wire::span;

use crate::changes::{EVENTS, LINKS, Status};
use crate::fields::Fields;
use crate::head::ATTRIBUTES;
use crate::protobuf::{bytes, fixed32, fixed64, message, number};
use crate::shared::Shared;
use crate::texts::Texts;

/// Adds the span of a SPAN to the queue; `None` if the record makes no sense.
pub(crate) fn add(record: Record<'_>, texts: &Texts, shared: &mut Shared) -> Option<()> {
    let mut out = std::mem::take(&mut shared.scratch);
    out.clear();
    let scope = write(record, texts, shared, &mut out);
    if let Some(scope) = scope {
        shared.queue.add(scope, &out);
    }
    shared.scratch = out;
    scope.map(|_| ())
}

/// Writes the content of a message Span; returns the number of its scope.
fn write(
    record: Record<'_>,
    texts: &Texts,
    shared: &mut Shared,
    out: &mut Vec<u8>,
) -> Option<usize> {
    // JavaScript has cut the values.
    let mut fields = Fields::new(record, span::FIELDS, texts, u32::MAX);
    let words = record.words().get(..span::FIELDS)?;
    let id = |at: usize, out: &mut [u8]| {
        for (bytes, word) in out.chunks_exact_mut(4).zip(&words[at..]) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
    };
    let mut trace_id = [0; 16];
    let mut span_id = [0; 8];
    let mut parent_id = [0; 8];
    id(span::TRACE_ID, &mut trace_id);
    id(span::SPAN_ID, &mut span_id);
    id(span::PARENT_ID, &mut parent_id);
    let name = fields.text()?;
    let scope = shared.queue.scope(&fields.text()?)?;
    let mut status = Status::default();
    status.set(words[span::STATUS], &fields.text()?);
    let state = fields.text()?;
    bytes(out, 1, &trace_id);
    bytes(out, 2, &span_id);
    if !state.is_empty() {
        bytes(out, 3, state.as_bytes());
    }
    if parent_id != [0; 8] {
        bytes(out, 4, &parent_id);
    }
    bytes(out, 5, name.as_bytes());
    number(out, 6, words[span::KIND].into());
    fixed64(out, 7, shared.clock.time(record, span::STARTED_AT));
    fixed64(out, 8, shared.clock.time(record, span::ENDED_AT));
    fields.attributes(out, ATTRIBUTES)?;
    for _ in 0..fields.word()? {
        fields.event(out, EVENTS, shared.clock)?;
    }
    for _ in 0..fields.word()? {
        fields.link(out, LINKS)?;
    }
    for field in [10, 12, 14] {
        let dropped = fields.word()?;
        if dropped > 0 {
            number(out, field, dropped.into());
        }
    }
    message(out, 15, |out| status.write(out));
    fixed32(out, 16, words[span::FLAGS]);
    Some(scope)
}
