import { isMainThread } from 'node:worker_threads';
import { diag, metrics } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import { AsyncContextManager } from './api/context-manager.ts';
import { createPropagator } from './api/propagator.ts';
import { registerApi, unregisterApi } from './api/registration.ts';
import { RequestSpans } from './api/request-spans.ts';
import { HeadSampling } from './api/sampling.ts';
import { TracerProvider } from './api/tracer-provider.ts';
import { collectorSettings, SCOPE } from './collector-settings.ts';
import type { Config } from './config/config.ts';
import { alreadyStarted } from './errors.ts';
import { Batches, MetricsExport } from './export/batches.ts';
import { Exporting, type Plan } from './export/exporting.ts';
import { createOtlpSender } from './export/otlp-sender.ts';
import { servePrometheus } from './export/prometheus-page.ts';
import { UserMetrics } from './export/user-metrics.ts';
import type { Addon, Collector } from '../native.cjs';
import { createRing, RingWriter } from './native/ring-writer.ts';
import { LEVEL } from './native/wire.ts';
import { Routes } from './routes/routes.ts';
import { RouteTable } from './routes/route-table.ts';
import { observeEngine } from './servers/engine-servers.ts';
import { NodeServers } from './servers/node-servers.ts';
import { requestAttributes } from './servers/request-attributes.ts';
import { Requests } from './servers/requests.ts';
import type { Telemetry } from './telemetry.ts';

/**
 * Words of a ring: 1 MiB. A record is a quarter of it at most, and the changes that the handlers of one turn of the loop make have
 * to fit. Memory that was not written yet costs nothing.
 */
const RING_WORDS = 262_144;
/** Max bytes of a batch: receivers take a few MiB, and the loop sends it in a millisecond. */
const BATCH_BYTES = 524_288;
/** The rings of one engine, or of Node's servers, and the contexts of their requests. */
interface Source {
  readonly number: number;
  readonly ring: Uint32Array;
  readonly writer: RingWriter;
  /** Absent without traces. */
  readonly spans: RequestSpans | undefined;
}

/** Starts with the thread in Rust. */
export function startWithAddon(addon: Addon, config: Config, resource: Resource): Telemetry {
  const collector = new addon.Collector(collectorSettings(config, resource.attributes));
  const hasTraces = config.traces.length > 0;
  const table = new RouteTable();
  const routes = new Routes(table);
  const requests = new Requests(routes, table);
  const contexts = new AsyncContextManager();
  const level = hasTraces ? LEVEL.HEADS : LEVEL.FACTS;
  const sources: Source[] = [];

  const own = createRing(RING_WORDS, level);
  const writer = new RingWriter(own, () => collector.wake());
  const provider = new TracerProvider({
    writer,
    limits: config.limits,
    sampling: samplingOf(config),
    resource,
  });
  const addSource = (engine: Uint32Array | undefined, written: RingWriter): Source => {
    table.addWriter((number, pattern) => written.route(number, pattern));
    const ring = engine ?? written.ring;
    const scope = provider.scope(SCOPE);
    const attributesOf = requestAttributes;
    const source = {
      number: collector.addSource(engine, written.ring),
      ring,
      writer: written,
      spans: hasTraces
        ? new RequestSpans({ scope, ring, writer: written, attributesOf })
        : undefined,
    };
    sources.push(source);
    return source;
  };

  const propagator = createPropagator(config.propagators);
  if (hasTraces && !registerApi({ provider, contexts, propagator })) throw alreadyStarted();
  const ofNode = addSource(undefined, writer);
  const nodeServers = new NodeServers(writer, {
    begin(request, response, { slot, generation, sequence }) {
      if (ofNode.spans === undefined) return undefined;
      return requests.begin(ofNode.spans, request, response, slot, generation, sequence);
    },
    run: (context, callback) => contexts.run(context as never, callback),
    end: (request, response) => requests.end(request, response),
  });
  /** By the number of the engine. */
  const ofEngines: (Source | undefined)[] = [];
  const observed = observeEngine({
    ring(engine) {
      nodeServers.wrapHttps();
      const changes = new RingWriter(createRing(RING_WORDS), () => collector.wake());
      const source = addSource(createRing(RING_WORDS, level), changes);
      ofEngines[engine] = source;
      return source.ring;
    },
    begin(request, response, engine, slot, generation, sequence) {
      nodeServers.leaveToEngine();
      const spans = ofEngines[engine]?.spans;
      // A request that gives its connection to another protocol has no response, and no span.
      if (spans === undefined || response === undefined) return undefined;
      return requests.begin(spans, request, response, slot, generation, sequence);
    },
    run: (context, callback, ...args) => contexts.run(context as never, callback, ...args),
    routeOf: (request, response) => requests.end(request, response),
  });
  if (typeof observed === 'string') {
    diag.debug(`@redline/telemetry: node:http's own servers are traced: ${observed}`);
  }

  const userMetrics = new UserMetrics(resource, config);
  if (config.metrics.length > 0) metrics.setGlobalMeterProvider(userMetrics.provider);
  const exporting = new Exporting(plans(collector, config, userMetrics), {
    timeout: config.batch.exportTimeout,
    before: () => collector.drain(),
  });
  const prometheusText = async (): Promise<string> => {
    collector.drain();
    const ofUser = await userMetrics.prometheusText({ hasResource: false });
    return collector.prometheus() + ofUser;
  };
  const page =
    isMainThread && config.metrics.includes('prometheus')
      ? servePrometheus(prometheusText, config.prometheus)
      : undefined;

  return {
    prometheusText,
    async forceFlush() {
      await provider.forceFlush();
      await exporting.flush();
    },
    async shutdown() {
      nodeServers.stop();
      if (typeof observed !== 'string') observed();
      routes.stop();
      page?.close();
      await provider.shutdown();
      try {
        await exporting.stop();
      } finally {
        if (hasTraces) unregisterApi();
        metrics.disable();
        for (const { number } of sources) collector.removeSource(number);
      }
    },
  };
}

function samplingOf({ sampler: { root, ratio, isParentBased } }: Config): HeadSampling {
  const share = root === 'ratio' ? ratio : root === 'always_on' ? 1 : 0;
  return new HeadSampling({ ratio: share, isParentBased });
}

/** Each thread sends spans and the metrics of its meters; the main thread sends those of HTTP, which are of all threads. */
function plans(collector: Collector, config: Config, userMetrics: UserMetrics): Plan[] {
  const all: Plan[] = [];
  if (config.traces.includes('otlp')) {
    const take = (): Buffer | null => collector.takeSpans(BATCH_BYTES, config.batch.maxSpans);
    const batches = new Batches(createOtlpSender('traces'), take);
    const reportLosses = lossReporter(collector);
    const send = (): Promise<boolean> => {
      reportLosses();
      return batches.send();
    };
    all.push({ send, interval: config.batch.delay });
  }
  if (config.metrics.includes('otlp')) {
    const ofUser = (): Promise<Uint8Array | null> => userMetrics.encoded();
    const sources = isMainThread ? [() => collector.takeMetrics(), ofUser] : [ofUser];
    const sending = new MetricsExport(createOtlpSender('metrics'), sources);
    all.push({ send: () => sending.send(), interval: config.metricInterval });
  }
  return all;
}

/** Returns a function that reports what was lost since its last call. The counts are of all threads, so one reports them. */
export function lossReporter(collector: Pick<Collector, 'counts'>): () => void {
  if (!isMainThread) return () => {};
  let last = { droppedSpans: 0, lostRecords: 0 };
  return () => {
    const counts = collector.counts();
    const dropped = counts.droppedSpans - last.droppedSpans;
    const lost = counts.lostRecords - last.lostRecords;
    last = counts;
    if (dropped > 0) {
      diag.warn(`@redline/telemetry: ${dropped} spans were dropped: too many wait to be sent`);
    }
    if (lost > 0) {
      const records = lost === 1 ? '1 record of spans was' : `${lost} records of spans were`;
      diag.warn(
        `@redline/telemetry: ${records} lost: larger than 256 KiB, or more than its thread could read in time`,
      );
    }
  };
}
