import {
  AggregationTemporality,
  InstrumentType,
  MeterProvider,
  MetricReader,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import type { Resource } from '@opentelemetry/resources';
import { diag } from '@opentelemetry/api';
import { ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer';
import type { Config, Temporality } from '../config/config.ts';

/** The meters of the user's code: OpenTelemetry's own, read when their metrics are sent or asked for. */
export class UserMetrics {
  readonly provider: MeterProvider;
  readonly #pushed: Reader;
  readonly #pulled: Reader;

  constructor(resource: Resource, { temporality }: Pick<Config, 'temporality'>) {
    this.#pushed = new Reader({
      aggregationTemporalitySelector: (type) => temporalityOf(temporality, type),
    });
    this.#pulled = new Reader();
    this.provider = new MeterProvider({ resource, readers: [this.#pushed, this.#pulled] });
  }

  /** Returns an ExportMetricsServiceRequest; `null` if nothing was recorded. */
  async encoded(): Promise<Uint8Array | null> {
    const metrics = await collected(this.#pushed);
    if (metrics.scopeMetrics.length === 0) return null;
    return ProtobufMetricsSerializer.serializeRequest(metrics) ?? null;
  }

  /** Returns them in Prometheus' text format; `hasResource`: with the metric that describes the resource. */
  async prometheusText({ hasResource }: { readonly hasResource: boolean }): Promise<string> {
    const metrics = await collected(this.#pulled);
    if (metrics.scopeMetrics.length === 0) return '';
    const { PrometheusSerializer } = await import('@opentelemetry/exporter-prometheus');
    return new PrometheusSerializer('', false, undefined, !hasResource).serialize(metrics);
  }
}

class Reader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

async function collected(reader: MetricReader): Promise<ResourceMetrics> {
  const { resourceMetrics, errors } = await reader.collect();
  for (const error of errors) diag.error('@redline/telemetry: a metric was not read', error);
  return resourceMetrics;
}

/** The temporality of an instrument, by the specification of OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE. */
function temporalityOf(preference: Temporality, type: InstrumentType): AggregationTemporality {
  const isDelta =
    preference === 'delta'
      ? type !== InstrumentType.UP_DOWN_COUNTER &&
        type !== InstrumentType.OBSERVABLE_UP_DOWN_COUNTER
      : preference === 'lowmemory' &&
        (type === InstrumentType.COUNTER || type === InstrumentType.HISTOGRAM);
  return isDelta ? AggregationTemporality.DELTA : AggregationTemporality.CUMULATIVE;
}
