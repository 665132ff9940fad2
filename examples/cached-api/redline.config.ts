import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineConfig, type ServerUnderTest } from '@redline/lab';
import { engine } from '@redline/http';
import type { ObtainedRedis } from '@redline/services';

/** These log errors only; all others a line for every request. */
const errorsOnly = new Set([
  '06-errors-only',
  '07-memory-before-redis',
  '10-engine-errors-only',
  'raw-fastify',
]);

/* The rungs that fit into six minutes; `npm run bench -- cached-engine` has the others. */
const rungs = [
  { name: '00-express', note: 'nestjs-pino, CacheInterceptor' },
  {
    name: '00-express-engine',
    note: 'rung 00 with --import @redline/http/register',
    beside: true,
    command: ['node', '--import', '@redline/http/register', 'dist/00-express.js'],
  },
  { name: '01-fastify', note: 'Fastify in place of Express' },
  { name: '02-native-logger', note: 'pino on Fastify itself' },
  { name: '03-json-cache', note: 'JSON as the text it is' },
  { name: '04-auto-pipelining', note: 'one trip to Redis per turn' },
  { name: '05-engine', note: 'a native HTTP engine' },
  { name: '06-errors-only', note: 'no line for what went well' },
  { name: '07-memory-before-redis', note: 'read once, until Redis says it changed' },
  { name: '09-engine', note: 'a hit without JavaScript, every request logged' },
];

export default defineConfig({
  name: 'cached-api',
  title: 'Cached Nest API, GET /cached',
  requests: ['/cached'],
  precision: {
    restarts: 8,
    minutes: 5.6,
    blocks: 2,
    // With 8, most of what the base differs from itself by was noise within a start.
    passes: 16,
    sliceMs: 200,
    // After one second the compiler still takes up to a third of some rungs' turns.
    warmupMs: 1_500,
    warmupRequests: 12_000,
    latencyMs: 200,
  },
  quick: { restarts: 4, blocks: 1, passes: 8, warmupMs: 1_000, latencyMs: 200 },
  variants: rungs.map((rung) => ({
    command: ['node', `dist/${rung.name}.js`],
    ...rung,
    cwd: import.meta.dirname,
  })),

  async setup() {
    const served = engine();
    if (served.name === 'node') {
      process.stderr.write(`Rungs on the engine run on node:http instead:  ${served.reason}.\n`);
    }
    const redis = await obtainRedis();
    if (redis.url !== undefined) return { env: { REDIS_URL: redis.url }, stop: redis.stop };
    process.stderr.write(`${redis.missing}\nThe ladder runs on the in-process store.\n`);
    return { env: { REDIS_URL: '' }, skip };
  },

  verify: logsEveryRequest,
});

/** That of the repository starts one where it can; the example alone takes the one it is given. */
async function obtainRedis(): Promise<ObtainedRedis> {
  const services = await import('@redline/services').catch(() => undefined);
  if (services !== undefined) return services.obtainRedis();
  const { REDIS_URL: url } = process.env;
  const stop = async (): Promise<void> => {};
  return url
    ? { url, origin: 'REDIS_URL', stop }
    : { url: undefined, missing: 'No Redis found: set REDIS_URL to one that runs.', stop };
}

/** Without Redis they are the rungs below them. */
const skip = { '04-auto-pipelining': 'needs Redis', '07-memory-before-redis': 'needs Redis' };

const checkedRequests = 20;
const checkedUrl = '/cached?checked';

/** A rung that forgot its log would look fast. Those that log errors only must not log a good request. */
async function logsEveryRequest(server: ServerUnderTest): Promise<void> {
  for (let i = 0; i < checkedRequests; i++) await request(server.url + checkedUrl);
  const expected = errorsOnly.has(server.name.replace(/ again$/, '')) ? 0 : checkedRequests;
  // The log is written in batches, a moment later.
  for (let tries = 0; tries < 100 && (await countLines(server)) < expected; tries++)
    await sleep(20);
  const lines = await countLines(server);
  if (lines !== expected) {
    throw new Error(`${checkedRequests} requests wrote ${lines} log lines, not ${expected}.`);
  }
}

async function countLines(server: ServerUnderTest): Promise<number> {
  return (await server.stdout()).split(checkedUrl).length - 1;
}

function request(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (answer) => answer.resume().on('end', resolve)).on('error', reject);
  });
}
