import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRequire } from 'node:module';
import { describe, test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Listening, ScoutSettings, Sighting } from '../../src/try/preload/protocol.ts';

const scout = fileURLToPath(new URL('../../dist/try/preload/scout.js', import.meta.url));
const { resolve } = createRequire(import.meta.url);

/** Runs a program of CommonJS with the scout in it, until it has said enough. */
async function sightings(
  context: TestContext,
  source: string,
  settings: Partial<ScoutSettings> = {},
  enough = 1,
): Promise<Sighting[]> {
  const folder = mkdtempSync(join(tmpdir(), 'redline-scout-'));
  const [file, app] = [join(folder, 'sightings'), join(folder, 'app.cjs')];
  writeFileSync(file, '');
  writeFileSync(app, source);
  const child = spawn(process.execPath, [app], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      NODE_OPTIONS: `--import=${scout}`,
      REDLINE_SCOUT: JSON.stringify({ file, ...settings }),
      REDLINE_PORT: '0',
    },
  });
  const exited = once(child, 'exit');
  context.after(async () => {
    child.kill('SIGKILL');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  });
  for (;;) {
    const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
    if (lines.length >= enough) return lines.map((line) => JSON.parse(line) as Sighting);
    assert.equal(child.exitCode, null, 'the app has ended');
    await sleep(20);
  }
}

const express = (name: string): string => `
const express = require(${JSON.stringify(resolve(name))});
const app = express();
const [api, items] = [express.Router(), express.Router()];
app.use((request, response, next) => next());
app.get('/', (request, response) => response.end());
app.post('/post', (request, response) => response.end());
items.get('/:id', (request, response) => response.end());
api.use('/items', items);
api.get('/', (request, response) => response.end());
app.use('/api', express.json(), api);
app.listen(3000);`;

describe('the scout in an app', () => {
  for (const name of ['express', 'express-4']) {
    test(`finds the GET routes of ${name}, in the routers they are mounted at`, async (t) => {
      const [seen] = (await sightings(t, express(name))) as [Listening];
      assert.deepEqual(seen.routes, ['/', '/api/items/:id', '/api']);
      assert.deepEqual([seen.kind, seen.asked], ['http', 3000]);
      assert.notEqual(seen.port, 3000);
    });
  }

  test('finds the GET routes of Fastify and its plugins', async (t) => {
    const [seen] = (await sightings(
      t,
      `const app = require(${JSON.stringify(resolve('fastify'))})();
      app.get('/a', async () => 1);
      app.register(async (inner) => inner.get('/b/:id', async () => 1), { prefix: '/v1' });
      app.post('/c', async () => 1);
      app.listen({ port: 3000, host: '127.0.0.1' });`,
    )) as [Listening];
    assert.deepEqual(seen.routes, ['/a', '/v1/b/:id']);
  });

  for (const [how, load] of [
    ['import', `(await import(${JSON.stringify(import.meta.resolve('koa'))})).default`],
    ['require', `require(${JSON.stringify(resolve('koa'))})`],
  ]) {
    test(`finds the GET routes of routers that Koa is given, with ${how}`, async (t) => {
      const [seen] = (await sightings(
        t,
        `(async () => {
          const router = { stack: [
            { path: '/v1/orders/:id', methods: ['HEAD', 'GET'] },
            { path: '/v1/orders', methods: ['POST'] },
          ] };
          const app = new (${load})();
          app.use(() => {}).use(Object.assign(() => {}, { router })).listen(3000);
        })();`,
      )) as [Listening];
      assert.deepEqual(seen.routes, ['/v1/orders/:id']);
    });
  }

  test('sends a port that the app insists on elsewhere, in every form of listen', async (t) => {
    const source = `const http = require('node:http');
      const serve = () => http.createServer((request, response) => response.end());
      serve().listen('3001', '127.0.0.1', () => {});
      serve().listen({ port: 3001, host: '127.0.0.1' });
      serve().listen(0);
      require('node:net').createServer().listen({ port: '3002' });`;
    const seen = (await sightings(t, source, {}, 4)) as Listening[];
    assert.deepEqual(seen.map(({ asked }) => asked).toSorted(), [0, 3001, 3001, 3002]);
    assert.equal(new Set(seen.map(({ port }) => port)).size, 4);
    assert.equal(seen.find(({ asked }) => asked === 3002)!.kind, 'other');
  });

  for (const [module, kind] of [
    ['https', 'tls'],
    ['http2', 'http2'],
  ]) {
    test(`tells ${module} apart`, async (t) => {
      const source = `require('node:${module}').createServer({}, () => {}).listen(3443);`;
      const [seen] = (await sightings(t, source)) as [Listening];
      assert.equal(seen.kind, kind);
    });
  }

  test('notices the processes an app starts once it listens, whichever way', async (t) => {
    const source = `import('node:child_process').then(({ execFileSync, spawn }) => {
      execFileSync('true');
      require('node:http').createServer().listen(0, () => setTimeout(() => {
        execFileSync('true');
        spawn('true');
      }, 100));
    });`;
    const seen = await sightings(t, source, {}, 3);
    assert.deepEqual(
      seen.map(({ type }) => type),
      ['listening', 'child', 'child'],
    );
  });
});
