import type { SpanLimits } from '@opentelemetry/sdk-trace';
import { spanLimits } from '../api/span-limits.ts';
import { readSampler, type SamplerConfig } from './sampler.ts';
import { unsupported, Variables, type Environment } from './variables.ts';

/** The `OTEL_*` variables. Those of OTLP and of the resource are checked here, and read by OpenTelemetry's packages. */
export interface Config {
  readonly isDisabled: boolean;
  readonly logLevel: string | undefined;
  readonly traces: readonly TracesExporter[];
  readonly metrics: readonly MetricsExporter[];
  readonly sampler: SamplerConfig;
  readonly propagators: readonly PropagatorName[];
  readonly batch: BatchConfig;
  readonly limits: Required<SpanLimits>;
  readonly metricInterval: number;
  readonly metricTimeout: number;
  readonly temporality: Temporality;
  readonly prometheus: { readonly host: string; readonly port: number };
  readonly detectors: readonly DetectorName[];
}

export type TracesExporter = 'otlp' | 'console';
export type MetricsExporter = 'otlp' | 'prometheus';
export type PropagatorName = 'tracecontext' | 'baggage';
export type Temporality = 'cumulative' | 'delta' | 'lowmemory';
export type DetectorName = 'env' | 'host' | 'os' | 'process' | 'service' | 'serviceinstance';

export interface BatchConfig {
  /** Time between two batches in milliseconds. */
  readonly delay: number;
  /** Max time of the last batches in milliseconds. */
  readonly exportTimeout: number;
  /** Max number of spans of a batch. */
  readonly maxSpans: number;
  /** Max bytes of encoded spans that wait. */
  readonly maxBytes: number;
}

const LOG_LEVELS = ['none', 'error', 'warn', 'info', 'debug', 'verbose', 'all'] as const;
const DETECTORS = ['env', 'host', 'os', 'process', 'service', 'serviceinstance'] as const;
const FOREIGN_PROPAGATORS = ['b3', 'b3multi', 'jaeger', 'xray', 'ottrace'];
/** Bytes that count as a span of OTEL_BSP_MAX_QUEUE_SIZE. */
const SPAN_BYTES = 1_024;
const MEBIBYTE = 1_048_576;

/** @throws TelemetryError for the first variable that has no meaning here. */
export function readConfig(environment: Environment = process.env): Config {
  const variables = new Variables(environment);
  const isDisabled = variables.isTrue('OTEL_SDK_DISABLED');
  // A process without telemetry does not fail because of its settings.
  const read = isDisabled ? new Variables({}) : variables;
  checkUnsupported(read);
  checkOtlp(read);
  return {
    isDisabled,
    logLevel: read.text('OTEL_LOG_LEVEL') && logLevel(read),
    traces: exporters(read, 'OTEL_TRACES_EXPORTER', ['otlp', 'console'], ['zipkin', 'jaeger']),
    metrics: exporters(read, 'OTEL_METRICS_EXPORTER', ['otlp', 'prometheus'], ['console']),
    sampler: readSampler(read),
    propagators: propagators(read),
    batch: readBatch(read),
    limits: readLimits(read),
    ...readMetricTimes(read),
    temporality: read.choice(TEMPORALITY, ['cumulative', 'delta', 'lowmemory']) ?? 'cumulative',
    prometheus: {
      host: read.text('OTEL_EXPORTER_PROMETHEUS_HOST') ?? '127.0.0.1',
      port: read.number(PROMETHEUS_PORT, isPort, 'a port from 0 to 65535') ?? 9464,
    },
    detectors: detectors(read),
  };
}

const TEMPORALITY = 'OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE';
const PROMETHEUS_PORT = 'OTEL_EXPORTER_PROMETHEUS_PORT';

function isPort(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= 65_535;
}

function checkUnsupported(read: Variables): void {
  read.pairs('OTEL_RESOURCE_ATTRIBUTES');
  read.choice('REDLINE_TELEMETRY', ['sdk']);
  read.list('OTEL_LOGS_EXPORTER', ['none'], ['otlp', 'console']);
  for (const name of ['OTEL_CONFIG_FILE', 'OTEL_EXPERIMENTAL_CONFIG_FILE']) {
    const file = read.text(name);
    if (file !== undefined) throw unsupported(name, file, 'the other OTEL_* variables');
  }
}

function logLevel(read: Variables): string {
  const name = 'OTEL_LOG_LEVEL';
  const lower = new Variables({ [name]: read.text(name)!.toLowerCase() });
  return lower.choice(name, LOG_LEVELS)!;
}

function exporters<Exporter extends string>(
  read: Variables,
  name: string,
  known: readonly Exporter[],
  foreign: readonly string[],
): Exporter[] {
  const given = read.list(name, [...known, 'none' as const], foreign) ?? [known[0]!];
  return without(given);
}

/** `none` among others wins, as in OpenTelemetry's own SDK. */
function without<Name extends string>(given: readonly (Name | 'none')[]): Name[] {
  return given.includes('none') ? [] : (given as Name[]);
}

function propagators(read: Variables): PropagatorName[] {
  const names = ['tracecontext', 'baggage', 'none'] as const;
  return without(read.list('OTEL_PROPAGATORS', names, FOREIGN_PROPAGATORS) ?? names.slice(0, 2));
}

function readBatch(read: Variables): BatchConfig {
  const queue = read.whole('OTEL_BSP_MAX_QUEUE_SIZE', 1);
  return {
    delay: read.milliseconds('OTEL_BSP_SCHEDULE_DELAY') ?? 1_000,
    exportTimeout: read.milliseconds('OTEL_BSP_EXPORT_TIMEOUT') ?? 30_000,
    maxSpans: read.whole('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 1) ?? 8_192,
    maxBytes: queue === undefined ? 32 * MEBIBYTE : Math.min(queue * SPAN_BYTES, 1_024 * MEBIBYTE),
  };
}

function readLimits(read: Variables): Required<SpanLimits> {
  const first = (...names: string[]) =>
    names.map((name) => read.whole(name, 0)).find((value) => value !== undefined);
  const lengths = ['OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT', 'OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT'];
  return spanLimits({
    attributeCountLimit: first('OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT', 'OTEL_ATTRIBUTE_COUNT_LIMIT'),
    attributeValueLengthLimit: first(...lengths),
    eventCountLimit: first('OTEL_SPAN_EVENT_COUNT_LIMIT'),
    linkCountLimit: first('OTEL_SPAN_LINK_COUNT_LIMIT'),
    attributePerEventCountLimit: first('OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT'),
    attributePerLinkCountLimit: first('OTEL_LINK_ATTRIBUTE_COUNT_LIMIT'),
  });
}

function readMetricTimes(read: Variables): Pick<Config, 'metricInterval' | 'metricTimeout'> {
  const metricInterval = read.milliseconds('OTEL_METRIC_EXPORT_INTERVAL') ?? 60_000;
  const timeout = read.milliseconds('OTEL_METRIC_EXPORT_TIMEOUT') ?? 30_000;
  return { metricInterval, metricTimeout: Math.min(timeout, metricInterval) };
}

function detectors(read: Variables): DetectorName[] {
  const names = [...DETECTORS, 'all', 'none'] as const;
  const given = read.list('OTEL_NODE_RESOURCE_DETECTORS', names) ?? ['all'];
  if (given.includes('none')) return [];
  return given.includes('all') ? [...DETECTORS] : (given as DetectorName[]);
}

const PROTOCOL = 'http/protobuf';

/**
 * Checks the variables that `@opentelemetry/otlp-exporter-base` reads: it reports a value that it does not know only as a
 * warning, if logging is on at all, and sends to the default.
 */
export function checkOtlp(read: Variables): void {
  for (const signal of ['', 'TRACES_', 'METRICS_']) {
    const name = (setting: string) => `OTEL_EXPORTER_OTLP_${signal}${setting}`;
    read.choice(name('PROTOCOL'), [PROTOCOL], ['http/json', 'grpc']);
    read.choice(name('COMPRESSION'), ['gzip', 'none']);
    read.number(name('TIMEOUT'), (value) => value > 0 && value < Infinity, 'milliseconds above 0');
    read.pairs(name('HEADERS'));
    for (const file of ['CERTIFICATE', 'CLIENT_CERTIFICATE', 'CLIENT_KEY']) read.file(name(file));
    read.url(name('ENDPOINT'));
  }
}
