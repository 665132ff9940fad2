// Generated from crates/telemetry_node by scripts/build-native.mjs: change it there.

/** @throws Where no addon loads; the message is one clause that says why. */
export declare function loadAddon(): Addon;

export interface Addon {
  readonly interfaceHash: typeof interfaceHash;
  readonly Collector: typeof Collector;
}

/** Identifies what crosses between this addon and JavaScript: `native.cjs` uses no addon with another hash. */
declare function interfaceHash(): string;

/** This environment's part in the engine of the process. */
declare class Collector {
  /** Joins the engine of the process. The first call starts it, and decides the settings. */
  constructor(settings: JsSettings);
  /**
   * Adds the ring of an engine, if there is one, and that of the JavaScript beside it. Both are held until `removeSource` or
   * the end of the environment. Returns the source's number.
   */
  addSource(engine: Uint32Array | undefined | null, own: Uint32Array): number;
  /** Reads what is left in the rings of a source, and releases them. */
  removeSource(source: number): void;
  /** Wakes the thread: a ring that JavaScript writes is a quarter full. */
  wake(): void;
  /** Reads all rings on this thread. */
  drain(): void;
  /** Takes about `maxBytes` and at most `maxSpans` of the spans that wait, as an ExportTraceServiceRequest. */
  takeSpans(maxBytes: number, maxSpans: number): Buffer | null;
  /** Returns the counts of requests as an ExportMetricsServiceRequest; `null` if nothing was counted. */
  takeMetrics(): Buffer | null;
  /** Returns the counts of requests in Prometheus' text format. */
  prometheus(): string;
  /** Returns what the engine has counted. */
  counts(): JsCounts;
}

/** An attribute of the resource: one of its values is there. */
export interface JsAttribute {
  /** Its name. */
  key: string;
  /** A text. */
  text?: string;
  /** A number. */
  number?: number;
  /** A boolean. */
  isTrue?: boolean;
  /** A list of texts. */
  texts?: Array<string>;
}

/** Counts of the engine. */
export interface JsCounts {
  /** Spans that were encoded. */
  spans: number;
  /** Spans that wait to be sent. */
  waitingSpans: number;
  /** Their bytes. */
  waitingBytes: number;
  /** Spans that were dropped, because too many bytes waited. */
  droppedSpans: number;
  /** Records that did not fit in their ring, or that made no sense. */
  lostRecords: number;
  /** Requests that began. */
  requests: number;
}

/** Settings of the engine. */
export interface JsSettings {
  /** Attributes of the resource. */
  resource: Array<JsAttribute>;
  /** Max bytes of encoded spans that wait to be sent. */
  maxBytes: number;
  /** `always_on`, `always_off` or `ratio`, for requests that JavaScript does not decide on. */
  sampler: string;
  /** The share of traces, with `ratio`. */
  ratio: number;
  /** True if a request that continues a trace follows its decision. */
  isParentBased: boolean;
  /** Max attributes of a request's span; 0xffffffff for none. */
  attributeCountLimit: number;
  /** Max length of their texts; 0xffffffff for none. */
  attributeValueLengthLimit: number;
  /** Query parameters whose values are not shown. */
  redactedParameters: Array<string>;
  /** Upper bounds of the buckets of durations, in seconds. */
  boundaries: Array<number>;
  /** True if OTLP gets the difference since the last time. */
  isDelta: boolean;
}

export type { interfaceHash, Collector };
