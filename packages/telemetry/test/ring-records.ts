// Reads what the JavaScript of this package writes to a ring, by the numbers of wire.rs.
import assert from 'node:assert/strict';
import { CHANGE, FIRST, KIND, RING, ROUTE, SPAN, TEXT, TIME, VALUE } from '../src/native/wire.ts';

/** A value as OTLP's JSON has it. */
export type OtlpValue = Readonly<Record<string, unknown>>;

export interface OtlpAttribute {
  readonly key: string;
  readonly value: OtlpValue;
}

/** Seconds and nanoseconds. */
export interface ReadTime {
  readonly isEpoch: boolean;
  readonly seconds: number;
  readonly nanos: number;
}

export interface ReadEvent {
  readonly time: ReadTime;
  readonly name: string;
  readonly attributes: OtlpAttribute[];
  readonly droppedAttributesCount: number;
}

export interface ReadLink {
  readonly traceId: string;
  readonly spanId: string;
  readonly flags: number;
  readonly traceState: string;
  readonly attributes: OtlpAttribute[];
  readonly droppedAttributesCount: number;
}

export interface ReadSpan {
  readonly record: 'span';
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly kind: number;
  readonly status: { readonly code: number; readonly message: string };
  readonly flags: number;
  readonly start: ReadTime;
  readonly end: ReadTime;
  readonly name: string;
  readonly scope: readonly string[];
  readonly traceState: string;
  readonly attributes: OtlpAttribute[];
  readonly events: ReadEvent[];
  readonly links: ReadLink[];
  readonly dropped: {
    readonly attributes: number;
    readonly events: number;
    readonly links: number;
  };
}

export interface ReadChange {
  readonly record: 'change';
  readonly place: readonly number[];
  readonly change: unknown;
}

export interface ReadRoute {
  readonly record: 'route';
  readonly number: number;
  readonly pattern: string;
}

export type ReadRecord = ReadSpan | ReadChange | ReadRoute;

/** The one reader of a ring. */
export class RingReader {
  readonly ring: Uint32Array<ArrayBuffer>;
  readonly texts = new Map<number, string>();

  constructor(ring: Uint32Array<ArrayBuffer>) {
    this.ring = ring;
  }

  /** Returns the spans that were written since the last call, and ignores other records. */
  spans(): ReadSpan[] {
    return this.read().filter((record) => record.record === 'span');
  }

  changes(): ReadChange[] {
    return this.read().filter((record) => record.record === 'change');
  }

  get lost(): number {
    return Atomics.load(this.ring, RING.LOST);
  }

  /** Returns the records since the last call, TEXT and PAD excepted, and makes room for others. */
  read(): ReadRecord[] {
    const { ring } = this;
    const capacity = ring.length - RING.FIRST_RECORD;
    const written = Atomics.load(ring, RING.WRITTEN);
    const records: ReadRecord[] = [];
    let at = Atomics.load(ring, RING.TAKEN);
    while (at !== written) {
      const place = at & (capacity - 1);
      const start = ring[RING.FIRST_RECORD + place] as number;
      const length = start >>> FIRST.LENGTH_SHIFT;
      assert.ok(length > 0 && place + length <= capacity, 'a record does not cross the end');
      const words = ring.slice(RING.FIRST_RECORD + place, RING.FIRST_RECORD + place + length);
      const record = this.#record(start & FIRST.KIND_MASK, words);
      if (record) records.push(record);
      at = (at + length) >>> 0;
    }
    Atomics.store(ring, RING.TAKEN, at);
    return records;
  }

  #record(kind: number, words: Uint32Array<ArrayBuffer>): ReadRecord | undefined {
    if (kind === KIND.PAD) return undefined;
    const number = words[1] as number;
    if (kind === KIND.TEXT) {
      assert.equal(number, this.texts.size + 1, 'texts are numbered one after another');
      this.texts.set(number, textAt(words, TEXT.BYTES, words[TEXT.LENGTH] as number));
      return undefined;
    }
    if (kind === KIND.ROUTE) {
      const pattern = textAt(words, ROUTE.BYTES, words[ROUTE.LENGTH] as number);
      return { record: 'route', number, pattern };
    }
    const fields = new Fields(words, kind === KIND.SPAN ? SPAN.FIELDS : CHANGE.FIELDS, this.texts);
    const record = kind === KIND.SPAN ? spanOf(words, fields) : changeOf(kind, words, fields);
    assert.equal(fields.at, words.length, 'the length of a record is that of its fields');
    return record;
  }
}

function spanOf(words: Uint32Array<ArrayBuffer>, fields: Fields): ReadSpan {
  return {
    record: 'span',
    traceId: hexAt(words, SPAN.TRACE_ID, 4),
    spanId: hexAt(words, SPAN.SPAN_ID, 2),
    parentSpanId: hexAt(words, SPAN.PARENT_ID, 2).replace(/^0+$/, ''),
    kind: words[SPAN.KIND] as number,
    flags: words[SPAN.FLAGS] as number,
    start: timeAt(words, SPAN.STARTED_AT),
    end: timeAt(words, SPAN.ENDED_AT),
    name: fields.text(),
    scope: fields.text().split('\0'),
    status: { code: words[SPAN.STATUS] as number, message: fields.text() },
    traceState: fields.text(),
    attributes: fields.attributes(fields.word()),
    events: fields.list(() => fields.event()),
    links: fields.list(() => fields.link()),
    dropped: { attributes: fields.word(), events: fields.word(), links: fields.word() },
  };
}

function changeOf(kind: number, words: Uint32Array<ArrayBuffer>, fields: Fields): ReadChange {
  assert.equal(kind, KIND.CHANGE, 'the kind of the record is known');
  const place = Array.from(words.subarray(CHANGE.SLOT, CHANGE.OPERATION));
  return { record: 'change', place, change: fields.change(words[CHANGE.OPERATION] as number) };
}

class Fields {
  at: number;
  readonly #words: Uint32Array<ArrayBuffer>;
  readonly #texts: ReadonlyMap<number, string>;

  constructor(words: Uint32Array<ArrayBuffer>, at: number, texts: ReadonlyMap<number, string>) {
    this.#words = words;
    this.at = at;
    this.#texts = texts;
  }

  word(): number {
    const word = this.#words[this.at++];
    assert.ok(word !== undefined, 'a field is inside its record');
    return word;
  }

  text(): string {
    const word = this.word();
    if ((word & 1) === 1) {
      const text = this.#texts.get(word >>> 1);
      assert.ok(text !== undefined, `the text ${word >>> 1} precedes its use`);
      return text;
    }
    return this.#inline(word >>> 1).toString();
  }

  change(operation: number): unknown {
    switch (operation) {
      case CHANGE.ATTRIBUTES:
        return { attributes: this.attributes(this.word()) };
      case CHANGE.NAME:
        return { name: this.text() };
      case CHANGE.STATUS:
        return { status: this.word(), message: this.text() };
      case CHANGE.EVENT:
        return { event: this.event() };
      case CHANGE.LINK:
        return { link: this.link() };
      case CHANGE.SAMPLED:
        return { sampled: this.word() };
      default:
        return assert.fail(`an operation must be known; got ${operation}`);
    }
  }

  list<T>(read: () => T): T[] {
    return Array.from({ length: this.word() }, read);
  }

  attributes(count: number): OtlpAttribute[] {
    return Array.from({ length: count }, () => ({ key: this.text(), value: this.value() }));
  }

  event(): ReadEvent {
    const time = timeAt(this.#words, this.at);
    this.at += 2;
    return { time, name: this.text(), ...this.#limited() };
  }

  link(): ReadLink {
    const traceId = hexAt(this.#words, this.at, 4);
    const spanId = hexAt(this.#words, this.at + 4, 2);
    this.at += 6;
    return { traceId, spanId, flags: this.word(), traceState: this.text(), ...this.#limited() };
  }

  value(): OtlpValue {
    const kind = this.word();
    switch (kind) {
      case VALUE.FALSE:
      case VALUE.TRUE:
        return { boolValue: kind === VALUE.TRUE };
      case VALUE.INTEGER:
        return { intValue: Number(this.#bits().getBigInt64(0, true)) };
      case VALUE.DOUBLE:
        return { doubleValue: this.#bits().getFloat64(0, true) };
      case VALUE.TEXT:
        return { stringValue: this.text() };
      case VALUE.ARRAY:
        return { arrayValue: { values: this.list(() => this.value()) } };
      case VALUE.BYTES:
        return { bytesValue: this.#inline(this.word()).toString('base64') };
      case VALUE.MAP:
        return { kvlistValue: { values: this.attributes(this.word()) } };
      default:
        assert.equal(kind, VALUE.NOTHING, 'the kind of a value is known');
        return {};
    }
  }

  #limited(): { attributes: OtlpAttribute[]; droppedAttributesCount: number } {
    const word = this.word();
    const droppedAttributesCount = word >>> SPAN.DROPPED_SHIFT;
    return { attributes: this.attributes(word & 0xffff), droppedAttributesCount };
  }

  #inline(length: number): Buffer {
    const start = this.at;
    this.at += Math.ceil(length / 4);
    assert.ok(this.at <= this.#words.length, 'bytes are inside their record');
    return Buffer.from(this.#words.buffer, start * 4, length);
  }

  #bits(): DataView {
    const bits = new DataView(this.#words.buffer, this.at * 4, 8);
    this.at += 2;
    return bits;
  }
}

function timeAt(words: Uint32Array, at: number): ReadTime {
  const nanos = words[at + 1] as number;
  return {
    isEpoch: (nanos & TIME.IS_EPOCH) !== 0,
    seconds: words[at] as number,
    nanos: nanos & ~TIME.IS_EPOCH,
  };
}

function hexAt(words: Uint32Array, at: number, count: number): string {
  return Array.from(words.slice(at, at + count), (word) => word.toString(16).padStart(8, '0')).join(
    '',
  );
}

function textAt(words: Uint32Array<ArrayBuffer>, at: number, length: number): string {
  return Buffer.from(words.buffer, at * 4, length).toString();
}
