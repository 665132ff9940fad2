import type { Attributes, AttributeValue } from '@opentelemetry/api';
import type { Config } from './config/config.ts';
import type { JsAttribute, JsSettings } from '../native.cjs';
import { REDACTED_PARAMETERS } from './servers/request-attributes.ts';

/** The instrumentation scope of the spans of requests. */
export const SCOPE = '@redline/telemetry';

const NO_LIMIT = 0xffff_ffff;
/** Boundaries of http.server.request.duration in seconds, by the conventions of HTTP. */
export const BOUNDARIES: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
];

/** Returns the settings of the addon's collector. */
export function collectorSettings(config: Config, resource: Attributes): JsSettings {
  const { attributeCountLimit, attributeValueLengthLimit } = config.limits;
  const { root, ratio, isParentBased } = config.sampler;
  const hasTraces = config.traces.length > 0;
  return {
    resource: Object.entries(resource).flatMap(([key, value]) =>
      value === undefined ? [] : [attributeOf(key, value)],
    ),
    maxBytes: config.batch.maxBytes,
    sampler: hasTraces ? root : 'always_off',
    ratio,
    isParentBased: hasTraces && isParentBased,
    attributeCountLimit: Math.min(attributeCountLimit, NO_LIMIT),
    // A limit of 0 counts as none, as in OpenTelemetry's SDK.
    attributeValueLengthLimit: Math.min(attributeValueLengthLimit || NO_LIMIT, NO_LIMIT),
    redactedParameters: [...REDACTED_PARAMETERS],
    boundaries: [...BOUNDARIES],
    isDelta: config.temporality !== 'cumulative',
  };
}

function attributeOf(key: string, value: AttributeValue): JsAttribute {
  if (typeof value === 'string') return { key, text: value };
  if (typeof value === 'number') return { key, number: value };
  if (typeof value === 'boolean') return { key, isTrue: value };
  return { key, texts: (value as readonly unknown[]).map(String) };
}
