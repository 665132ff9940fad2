import type { InstrumentationScope } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import type { SpanLimits, SpanProcessor } from '@opentelemetry/sdk-trace';
import type { RingWriter } from '../native/ring-writer.ts';
import type { Sampling } from './sampling.ts';

/** Shared by the tracers of a provider. */
export interface TracerSettings {
  readonly writer: RingWriter;
  readonly limits: Required<SpanLimits>;
  readonly sampling: Sampling;
  /** Calls those of the user; undefined if none is registered. */
  processor: SpanProcessor | undefined;
  readonly resource: Resource;
}

/** The library that makes spans. */
export interface SpanScope {
  readonly instrumentation: InstrumentationScope;
  /** The text of a record: `name`, NUL, `version`, NUL, `schema URL`. */
  readonly text: string;
  readonly settings: TracerSettings;
}

export function spanScope(
  instrumentation: InstrumentationScope,
  settings: TracerSettings,
): SpanScope {
  const { name, version = '', schemaUrl = '' } = instrumentation;
  return { instrumentation, text: `${name}\0${version}\0${schemaUrl}`, settings };
}
