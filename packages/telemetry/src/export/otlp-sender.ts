import { context, diag } from '@opentelemetry/api';
import { ExportResultCode, suppressTracing, type ExportResult } from '@opentelemetry/core';
import {
  createOtlpNetworkExportDelegate,
  OTLPExporterError,
  type IOtlpExportDelegate,
  OTLPExporterBase,
} from '@opentelemetry/otlp-exporter-base';
import {
  convertLegacyHttpOptions,
  createOtlpHttpExporterMetrics,
  createOtlpHttpExportDelegate,
} from '@opentelemetry/otlp-exporter-base/node-http';
import {
  ProtobufMetricsSerializer,
  ProtobufTraceSerializer,
  type ISerializer,
  TraceExporterMetricsHelper,
} from '@opentelemetry/otlp-transformer';
import { HttpTransport } from './http-transport.ts';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';

/** `sent`: the receiver has it. `refused`: it will never take it. `failed`: it may take it later. */
export type Outcome = 'sent' | 'refused' | 'failed';

/** Sends encoded batches by OTLP over HTTP. */
export interface OtlpSender {
  send(bytes: Uint8Array): Promise<Outcome>;
}

const signals = {
  traces: { variable: 'TRACES', path: 'v1/traces', item: 'span' },
  metrics: { variable: 'METRICS', path: 'v1/metrics', item: 'metric_data_point' },
} as const;

const responses = {
  traces: ProtobufTraceSerializer as ISerializer<never, unknown>,
  metrics: ProtobufMetricsSerializer as ISerializer<never, unknown>,
};

/**
 * Returns a sender with the address, headers, TLS, compression and timeout of the environment, as OpenTelemetry's exporters have
 * them.
 */
export function createOtlpSender(signal: keyof typeof signals): OtlpSender {
  const { variable, path, item } = signals[signal];
  const headers = { 'Content-Type': 'application/x-protobuf' };
  const options = convertLegacyHttpOptions({ concurrencyLimit: 1 }, variable, path, headers);
  const serializer: ISerializer<Uint8Array, unknown> = {
    serializeRequest: (bytes) => bytes,
    deserializeResponse: (data) => responses[signal].deserializeResponse(data),
  };
  const counts = { name: item, countItems: () => 1 };
  const delegate = createOtlpNetworkExportDelegate(
    options,
    serializer,
    createOtlpHttpExporterMetrics(`redline_otlp_${signal}`, counts, options.url, undefined),
    new HttpTransport(options),
  );
  return { send: (bytes) => sendBy(delegate, bytes, `${signal} to ${options.url}`) };
}

async function sendBy(
  delegate: IOtlpExportDelegate<Uint8Array>,
  bytes: Uint8Array,
  what: string,
): Promise<Outcome> {
  const { code, error } = await new Promise<ExportResult>((resolve) => {
    context.with(suppressTracing(context.active()), () => delegate.export(bytes, resolve));
  });
  if (code === ExportResultCode.SUCCESS) return 'sent';
  // A status that asks for no retry, or a connection that failed.
  const isRefused = error instanceof OTLPExporterError && error.code !== undefined;
  const meaning = isRefused ? 'were refused and are dropped' : 'are kept and sent again';
  diag.error(`@redline/telemetry: ${what} ${meaning}: ${error?.message ?? 'no response'}`);
  return isRefused ? 'refused' : 'failed';
}

/** Returns the exporter of the SDK's own spans. */
export function createSdkSpanExporter(): SpanExporter {
  const headers = { 'Content-Type': 'application/x-protobuf' };
  return new OTLPExporterBase<ReadableSpan[]>(
    createOtlpHttpExportDelegate(
      convertLegacyHttpOptions({}, 'TRACES', 'v1/traces', headers),
      ProtobufTraceSerializer,
      'otlp_http_span_exporter',
      TraceExporterMetricsHelper,
      undefined,
    ),
  );
}
