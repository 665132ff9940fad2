import { isMainThread } from 'node:worker_threads';
import { context, diag, metrics, propagation, trace } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ConsoleSpanExporter,
  ParentBasedSampler,
  SimpleSpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type Sampler,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace';
import { AsyncContextManager } from './api/context-manager.ts';
import { createPropagator } from './api/propagator.ts';
import { BOUNDARIES, SCOPE } from './collector-settings.ts';
import type { Config } from './config/config.ts';
import { alreadyStarted } from './errors.ts';
import { Exporting, type Plan } from './export/exporting.ts';
import { MetricsExport } from './export/batches.ts';
import { createOtlpSender, createSdkSpanExporter } from './export/otlp-sender.ts';
import { servePrometheus } from './export/prometheus-page.ts';
import { UserMetrics } from './export/user-metrics.ts';
import { Routes } from './routes/routes.ts';
import { RouteTable } from './routes/route-table.ts';
import { traceWithSdk } from './servers/sdk-servers.ts';
import type { Telemetry } from './telemetry.ts';

/** Starts with the spans of OpenTelemetry's SDK. @param reason why the addon makes none: one clause */
export function startWithSdk(config: Config, resource: Resource, reason: string): Telemetry {
  diag.info(`@redline/telemetry: OpenTelemetry's SDK makes the spans: ${reason}`);
  const contexts = new AsyncContextManager();
  const provider = new TracerProvider({
    resource,
    sampler: samplerOf(config),
    spanLimits: config.limits,
    spanProcessors: config.traces.map((name) => processorOf(name, config)),
  });
  const hasTraces = config.traces.length > 0;
  if (hasTraces) {
    if (!trace.setGlobalTracerProvider(provider)) throw alreadyStarted();
    context.setGlobalContextManager(contexts);
    propagation.setGlobalPropagator(createPropagator(config.propagators));
  }
  const userMetrics = new UserMetrics(resource, config);
  if (config.metrics.length > 0) metrics.setGlobalMeterProvider(userMetrics.provider);
  const table = new RouteTable();
  const routes = new Routes(table);
  const stopServers = traceWithSdk({
    tracer: provider.getTracer(SCOPE),
    meter: userMetrics.provider.getMeter(SCOPE),
    boundaries: BOUNDARIES,
    run: (within, callback) => contexts.run(within as never, callback),
    routeOf: (request) => table.patternOf(routes.numberOf(request)),
  });
  const exporting = new Exporting(plans(config, provider, userMetrics), {
    timeout: config.batch.exportTimeout,
  });
  const prometheusText = (): Promise<string> => userMetrics.prometheusText({ hasResource: true });
  const page =
    isMainThread && config.metrics.includes('prometheus')
      ? servePrometheus(prometheusText, config.prometheus)
      : undefined;
  return {
    prometheusText,
    forceFlush: () => exporting.flush(),
    async shutdown() {
      stopServers();
      routes.stop();
      page?.close();
      try {
        await exporting.stop();
      } finally {
        await provider.shutdown();
        if (hasTraces) {
          trace.disable();
          context.disable();
          propagation.disable();
        }
        metrics.disable();
      }
    },
  };
}

function plans(config: Config, provider: TracerProvider, userMetrics: UserMetrics): Plan[] {
  const flushSpans = async (): Promise<boolean> => {
    await provider.forceFlush();
    return true;
  };
  // The processor has a timer of its own.
  const all: Plan[] = [{ send: flushSpans, interval: undefined }];
  if (config.metrics.includes('otlp')) {
    const sending = new MetricsExport(createOtlpSender('metrics'), [() => userMetrics.encoded()]);
    all.push({ send: () => sending.send(), interval: config.metricInterval });
  }
  return all;
}

function processorOf(name: Config['traces'][number], { batch }: Config): SpanProcessor {
  if (name === 'console') return new SimpleSpanProcessor({ exporter: new ConsoleSpanExporter() });
  return new BatchSpanProcessor({
    exporter: createSdkSpanExporter(),
    scheduledDelayMillis: batch.delay,
    exportTimeoutMillis: batch.exportTimeout,
    maxExportBatchSize: batch.maxSpans,
    maxQueueSize: Math.max(batch.maxSpans, Math.floor(batch.maxBytes / 1_024)),
  });
}

function samplerOf({ sampler: { root, ratio, isParentBased } }: Config): Sampler {
  const sampler =
    root === 'ratio'
      ? new TraceIdRatioBasedSampler(ratio)
      : root === 'always_on'
        ? new AlwaysOnSampler()
        : new AlwaysOffSampler();
  return isParentBased ? new ParentBasedSampler({ root: sampler }) : sampler;
}
