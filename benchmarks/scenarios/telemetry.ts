// The cost of tracers and metrics: one JSON route of Express 5 and Fastify below the tracers and metrics libraries in use, on node:http and, through
// `--import @redline/http/register`, on the engine. Each exports to a receiver that takes everything.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineConfig } from '@redline/lab';
import { engine } from '@redline/http';
import { obtainTracers } from '../contenders/obtain.ts';
import { browserHeaders, product } from '../requests.ts';

const cwd = join(import.meta.dirname, '../contenders/telemetry');
const frameworks = { express: 'Express 5', fastify: 'Fastify' };

interface Tracer {
  readonly note: string;
  /** The start of the path on which the receiver gets its spans. */
  readonly path?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
}

/** Ours: the variables are set by tracers.cjs. */
const flags = ['--import', '@redline/telemetry/register'];
const tracers: Record<string, Tracer> = {
  none: { note: 'no tracer' },
  prometheus: { note: 'prom-client, one histogram' },
  'otel-http': { note: 'OpenTelemetry, the instrumentation of http', path: '/v1/traces' },
  otel: { note: 'OpenTelemetry, of http and the framework', path: '/v1/traces' },
  'otel-children': {
    note: 'the same, with five spans in the handler',
    path: '/v1/traces',
    env: { TRACER: 'otel', CHILD_SPANS: '5' },
  },
  datadog: { note: 'dd-trace', path: '/v0.' },
  sentry: { note: 'Sentry, one request in ten', path: '/api/' },
  'redline-metrics': {
    note: '@redline/telemetry, metrics alone',
    path: '/v1/metrics',
    env: { TRACER: 'redline', OTEL_TRACES_EXPORTER: 'none', OTEL_METRIC_EXPORT_INTERVAL: '5000' },
    flags,
  },
  redline: { note: '@redline/telemetry, all spans and metrics', path: '/v1/traces', flags },
  'redline-children': {
    note: 'the same, with five spans in the handler',
    path: '/v1/traces',
    env: { TRACER: 'redline', CHILD_SPANS: '5' },
    flags,
  },
};
/** The engines by the flags that start them. */
const engines = { node: [], redline: ['--import', '@redline/http/register'] };

const rows = Object.entries(frameworks).flatMap(([framework, title]) =>
  Object.entries(tracers).flatMap(([tracer, { note, env, flags: own = [] }]) =>
    Object.entries(engines).map(([name, ofEngine]) => ({
      name: `${framework}-${name}/${tracer}`,
      note: `${title} on ${name === 'node' ? 'node:http' : 'the engine'}, ${note}`,
      group: framework,
      command: ['node', '--require', './tracers.cjs', ...ofEngine, ...own, 'server.cjs', framework],
      cwd,
      env: { TRACER: tracer, ...env },
      ...(framework === 'express' ? {} : { quick: false as const }),
    })),
  ),
);

let receiverUrl = '';

export default defineConfig({
  name: 'telemetry',
  title: 'What tracers and metrics cost',
  requests: [{ path: '/', headers: browserHeaders }],
  load: { connections: 32, openLoopRps: 1_000, turns: false },
  precision: { restarts: 4, blocks: 3, sliceMs: 300, warmupMs: 2_500, latencyMs: 300 },
  quick: { restarts: 3, blocks: 2, sliceMs: 200, warmupMs: 1_500, latencyMs: 100 },
  groups: Object.fromEntries(
    Object.entries(frameworks).map(([framework, title]) => [
      framework,
      { title, baseline: `${framework}-node/none` },
    ]),
  ),
  variants: rows,

  async setup() {
    const missing = await obtainTracers();
    if (missing !== undefined) throw new Error(`The tracers are missing: ${missing}`);
    const served = engine();
    const onEngine = rows.filter(({ name }) => name.includes('-redline/'));
    const skip =
      served.name === 'native' ? [] : onEngine.map(({ name }) => [name, served.reason] as const);
    const program = spawn(process.execPath, [join(cwd, 'receiver.cjs')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });

    const [port] = (await once(program.stdout, 'data')) as [Buffer];
    receiverUrl = `http://127.0.0.1:${Number(port)}`;
    return {
      env: { PRODUCT: product, RECEIVER_PORT: String(Number(port)) },
      skip: Object.fromEntries(skip),
      async stop() {
        const exited = once(program, 'exit');
        program.kill();
        await exited;
      },
    };
  },

  /** Checks the body, and that what is measured is sent or counted. */
  async verify({ name, url }) {
    const tracer = tracers[name.split(' ', 1)[0]!.split('/')[1]!]!;
    const before = await receivedOn(tracer.path);
    for (let request = 0; request < 200; request++) {
      const response = await fetch(url);
      assert.deepEqual(await response.json(), JSON.parse(product), name);
    }
    if (name.includes('/prometheus')) {
      const page = await (await fetch(`${url}/metrics`)).text();
      assert.match(
        page,
        /http_server_request_duration_seconds_count\{[^}]*route="\/"[^}]*\} \d{3,}/,
        name,
      );
    }
    if (tracer.path === undefined) return;
    for (let waited = 0; (await receivedOn(tracer.path)) === before; waited += 100) {
      assert.ok(waited < 30_000, `${name} sent no spans`);
      await sleep(100);
    }
  },
});

/** Number of bytes. */
async function receivedOn(path = ''): Promise<number> {
  const response = await fetch(`${receiverUrl}/received`);
  const received = (await response.json()) as Record<string, number>;
  return Object.entries(received).reduce(
    (sum, [each, bytes]) => sum + (each.startsWith(path) ? bytes : 0),
    0,
  );
}
