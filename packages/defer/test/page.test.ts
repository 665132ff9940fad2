import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import { findOnPath } from '@redline/services';
import express from 'express';
import fastify from 'fastify';
import { chromium } from 'playwright-core';
import { createDefer } from '../src/create-defer.ts';
import type { Deferrer } from '../src/deferrer.ts';
import { defineJob } from '../src/job/job.ts';
import { directorySource } from '../src/page/source.ts';
import { pageHandler } from '../src/page/handler.ts';
import { deferPage, fastifyDeferPage } from '../src/page/index.ts';
import { dead } from '../src/sink.ts';
import { until } from '@redline/services/until';
import { listening, temporaryFolder, TestSink } from './harness.ts';

const cli = join(import.meta.dirname, '../src/inspect/cli.ts');
const sendMail = defineJob<{ to: string }>('send-mail');
const browser = process.env.CHROMIUM ?? findOnPath('chromium', 'chromium-browser', 'google-chrome');

/** A deferrer with two dead letters and a sink that is away. */
async function troubled(t: TestContext): Promise<{ deferrer: Deferrer; directory: string }> {
  const directory = temporaryFolder(t);
  const failing = new TestSink();
  failing.answer = (batch) => batch.map(() => dead(new Error('<b>no such mailbox</b>')));
  const away = new TestSink();
  away.answer = () => {
    throw new Error('away');
  };
  const deferrer = createDefer({
    sinks: { mail: failing, orders: { sink: away, breaker: { failures: 1, minMs: 1, maxMs: 2 } } },
    sink: 'mail',
    journal: { directory, adoptEveryMs: 5 },
    level: 'process',
    handleSignals: false,
    logger: false,
  });
  t.after(() => deferrer.close({ drainMs: 0 }));
  deferrer.defer(sendMail, { to: 'ada' }, { key: 'a"b' });
  deferrer.defer(sendMail, { to: '</script><script>alert(1)</script>' });
  deferrer.defer(sendMail, { to: 'somebody' }, { sink: 'orders' });
  await until('the letters', () => deferrer.deadLetters.size === 2);
  await until('the breaker', () => deferrer.queues.get('orders')!.isBreakerOpen);
  return { deferrer, directory };
}

type Serve = (t: TestContext, deferrer: Deferrer) => Promise<string>;

const servers: Record<string, Serve> = {
  'node:http': (t, deferrer) => listening(t, deferPage(deferrer)),
  async express(t, deferrer) {
    const app = express();
    app.use('/admin/defer', deferPage(deferrer));
    return `${await listening(t, app as never)}/admin/defer`;
  },
  async 'express with a body parser'(t, deferrer) {
    const app = express();
    app.use(express.urlencoded({ extended: false }));
    app.use('/admin/defer', deferPage(deferrer));
    return `${await listening(t, app as never)}/admin/defer`;
  },
  async fastify(t, deferrer) {
    const app = fastify();
    t.after(() => app.close());
    await app.register(fastifyDeferPage, { deferrer, prefix: '/admin/defer' });
    return `${await app.listen({ port: 0 })}/admin/defer`;
  },
};

/** The form of a button, as a browser would send it. */
function formOf(page: string, button: string): URLSearchParams {
  const form = page
    .split('<form')
    .find((each) => new RegExp(`<button>\\s*${button}`).test(each.split('</form>')[0]!));
  assert.ok(form, `no button ${button}`);
  const fields = [...form.split('</form>')[0]!.matchAll(/name="([^"]*)"\s+value="([^"]*)"/g)];
  return new URLSearchParams(fields.map(([, name, value]) => [name!, value!]));
}

for (const [name, serve] of Object.entries(servers)) {
  describe(`the page under ${name}`, () => {
    test('shows what is stuck and what has failed, with nothing of a job taken for HTML', async (t) => {
      const { deferrer } = await troubled(t);
      const response = await fetch(await serve(t, deferrer));
      assert.equal(response.status, 200);
      assert.match(response.headers.get('content-security-policy')!, /default-src 'none'/);
      assert.equal(response.headers.get('cache-control'), 'no-store');
      const page = await response.text();
      assert.match(page, /orders<\/b> is unavailable: 1 job\s+waiting/);
      assert.match(page, /2 jobs<\/b> failed for good/);
      assert.match(page, /The last send failed: away/);
      assert.match(page, /send-mail<\/th>\s*<td data-label="Sink">orders/);
      assert.match(page, /&#60;b&#62;no such mailbox/);
      assert.doesNotMatch(page, /<script|<b>no such/);
    });

    test('requeues and deletes dead letters, and goes back to itself', async (t) => {
      const { deferrer } = await troubled(t);
      const url = await serve(t, deferrer);
      const page = await (await fetch(url)).text();
      const deleted = await fetch(url, { method: 'POST', body: formOf(page, 'Delete for good') });
      assert.equal(new URL(deleted.url).pathname, new URL(url).pathname);
      assert.match(await deleted.text(), /1 job deleted/);
      assert.equal((await deferrer.deadLetters.list()).length, 1);
      (deferrer.queues.get('mail')!.options.sink as TestSink).answer = () => undefined;
      const requeued = await fetch(url, { method: 'POST', body: formOf(page, 'Requeue all 2') });
      assert.match(await requeued.text(), /1 job requeued/);
      await until('it is delivered', () => deferrer.queues.get('mail')!.stats.sent === 1);
      assert.deepEqual(await deferrer.deadLetters.list(), []);
    });

    test('refuses a form that is not its own', async (t) => {
      const { deferrer } = await troubled(t);
      const url = await serve(t, deferrer);
      const form = formOf(await (await fetch(url)).text(), 'Delete for good');
      form.set('token', '0'.repeat(32));
      const refused = await fetch(url, { method: 'POST', body: form });
      assert.equal(refused.status, 403);
      assert.equal(deferrer.deadLetters.size, 2);
    });
  });
}

test('a form of the page of another worker is taken, and none of another origin', async (t) => {
  const { deferrer } = await troubled(t);
  const [one, other] = [
    await listening(t, deferPage(deferrer)),
    await listening(t, deferPage(deferrer)),
  ];
  const body = formOf(await (await fetch(one)).text(), 'Delete for good');
  const post = async (headers: Record<string, string>): Promise<number> =>
    (await fetch(other, { method: 'POST', body, headers, redirect: 'manual' })).status;
  // As a browser has them over plain HTTP; where it can be trusted, it says so itself.
  const evil = 'http://evil.example';
  for (const headers of [
    {},
    { origin: evil },
    { origin: 'null' },
    { origin: other, 'sec-fetch-site': 'same-site' },
    { origin: other, 'sec-fetch-site': 'cross-site' },
  ] as Record<string, string>[]) {
    assert.equal(await post(headers), 403, JSON.stringify(headers));
  }
  assert.equal(deferrer.deadLetters.size, 2);
  assert.equal(await post({ origin: other }), 303);
  assert.equal(await post({ origin: evil, 'sec-fetch-site': 'same-origin' }), 303);
  assert.equal(deferrer.deadLetters.size, 1);
});

test('a form without an action, one that is too large, and other methods are refused', async (t) => {
  const { deferrer } = await troubled(t);
  const url = await listening(t, deferPage(deferrer));
  const token = formOf(await (await fetch(url)).text(), 'Requeue').get('token')!;
  const post = async (body: URLSearchParams): Promise<number> =>
    (await fetch(url, { method: 'POST', body })).status;
  assert.equal(await post(new URLSearchParams({ token })), 400);
  assert.equal(await post(new URLSearchParams({ token, pad: 'x'.repeat(20_000) })), 413);
  assert.equal((await fetch(url, { method: 'DELETE' })).status, 405);
});

test('inspect --serve shows the journal of another process, on loopback and to localhost alone', async (t) => {
  const { deferrer, directory } = await troubled(t);
  const command = spawn(process.execPath, [cli, 'inspect', directory, '--serve']);
  t.after(() => command.kill());
  const [said] = (await once(command.stdout, 'data')) as [Buffer];
  const url = /http:\S+/.exec(said.toString())![0];
  const page = await (await fetch(url)).text();
  assert.match(page, /its process runs/);
  assert.match(page, /2 jobs<\/b> failed for good/);
  const deleted = await fetch(url, { method: 'POST', body: formOf(page, 'Delete all 2') });
  assert.match(await deleted.text(), /2 jobs deleted/);
  assert.deepEqual(await deferrer.deadLetters.list(), []);
  const { status } = await new Promise<{ status: number }>((resolve, reject) => {
    const client = spawn(process.execPath, [
      '-e',
      `require('node:http').get(${JSON.stringify(url)}, { headers: { host: 'evil.example' } }, (r) => process.exit(r.statusCode === 421 ? 0 : 1))`,
    ]);
    client.once('error', reject).once('exit', (code) => resolve({ status: code! }));
  });
  assert.equal(status, 0);
  command.kill('SIGINT');
  assert.deepEqual(await once(command, 'exit'), [0, null]);
});

test('inspect --serve says at once that there is no such folder', async (t) => {
  const command = spawn(process.execPath, [
    cli,
    'inspect',
    join(temporaryFolder(t), 'none'),
    '--serve',
  ]);
  const errors = command.stderr.setEncoding('utf8').toArray();
  assert.deepEqual(await once(command, 'exit'), [1, null]);
  assert.match((await errors).join(''), /none.*cannot be read/s);
});

test(
  'fits 390 px and 1280 px, light and dark, without a complaint of the browser',
  { skip: browser === undefined && 'there is no Chromium on PATH' },
  async (t) => {
    const { deferrer } = await troubled(t);
    const url = await listening(t, deferPage(deferrer));
    const running = await chromium.launch({
      executablePath: browser!,
      args: ['--no-sandbox', '--disable-background-networking'],
    });
    t.after(() => running.close());
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of [390, 1280]) {
        const page = await running.newPage({ colorScheme, viewport: { width, height: 900 } });
        const complaints: string[] = [];
        page.on('console', (message) => complaints.push(message.text()));
        page.on('pageerror', (error) => complaints.push(String(error)));
        await page.goto(url);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= width, `${wide} px on ${width}`);
        if (process.env.SCREENSHOTS !== undefined) {
          await page.screenshot({
            path: `${process.env.SCREENSHOTS}/defer-${colorScheme}-${width}.png`,
            fullPage: true,
          });
        }
        await page.getByRole('button', { name: 'Requeue', exact: true }).first().focus();
        assert.deepEqual(complaints, []);
        await page.close();
      }
    }
  },
);

test('the page says until when delayed jobs wait, of a running app and of a directory', async (t) => {
  const directory = temporaryFolder(t);
  const deferrer = createDefer({
    sinks: { mail: new TestSink() },
    journal: { directory },
    level: 'process',
    handleSignals: false,
    logger: false,
  });
  t.after(() => deferrer.close());
  await deferrer.ready();
  const runAt = new Date(Date.now() + 3_600_000);
  const later = new Date(runAt.getTime() + 1_000);
  const jobs = [later, runAt].map((at) => deferrer.defer(sendMail, { to: 'ada' }, { runAt: at }));
  await Promise.all(jobs.map((job) => job.acknowledged()));
  const sentence = `2 wait, the next one until ${runAt.toISOString().slice(0, 19).replace('T', ' ')}`;
  const urls = [
    await listening(t, deferPage(deferrer)),
    await listening(t, pageHandler(directorySource(directory, undefined))),
  ];
  const times: number[] = [];
  for (const url of urls) {
    const page = await (await fetch(url)).text();
    times.push(page.split(sentence).length - 1);
  }
  // In the row of the sink, which only the app has, and in that of the journal.
  assert.deepEqual(times, [2, 1]);
});
