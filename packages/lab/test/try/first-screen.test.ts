import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, test } from 'node:test';
import { type ConsentOptions, FirstScreen, servicesOf } from '../../src/try/first-screen.ts';
import type { Listening } from '../../src/try/preload/protocol.ts';
import { resolveTarget } from '../../src/try/target.ts';

const { signal } = new AbortController();
const main: Listening = {
  type: 'listening',
  asked: 3000,
  port: 3000,
  kind: 'http',
  node: 'v24.0.0',
  routes: ['/feed', '/users/:id', '/logout', '/health'],
};

const started = { listeners: [main], choose: () => ({ main, undecided: [] }) };

/** What is written, and whether it goes on, where a person types `typed` or nobody is there. */
async function shown(
  env: Record<string, string>,
  typed?: string,
  options: ConsentOptions = {},
): Promise<{ text: string; goesOn: boolean }> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  let text = '';
  output.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const isTTY = typed !== undefined;
  Object.assign(input, { isTTY });
  Object.assign(output, { isTTY });
  const given = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  process.argv.push('--', ...given, 'node', 'server.js');
  const app = await resolveTarget([...given, 'node', 'server.js'], {});
  process.argv.length -= given.length + 3;
  const screen = new FirstScreen(options, 3, { input, output });
  input.write(typed ?? '');
  const goesOn =
    (await screen.beforeStart(app, signal)) && (await screen.beforeRequests(app, started, signal));
  // Lines that are broken are one sentence.
  return { text: text.replaceAll('\n  ', ' '), goesOn };
}

describe('the first screen of try and doctor', () => {
  test('says what is started, with which databases, and which routes are requested and left out', async () => {
    const { text, goesOn } = await shown({
      DATABASE_URL: 'postgres://me:hidden@db.example.com/app',
    });
    assert.ok(goesOn);
    assert.match(
      text,
      /Starts\s+DATABASE_URL=\S+ node server\.js in .*: up to 3 copies at a time, on free/,
    );
    assert.match(text, /DATABASE_URL=postgres:\/\/me:\*\*\*@db\.example\.com\/app {3}NOT LOCAL/);
    assert.doesNotMatch(text, /hidden/);
    assert.match(text, /^! DATABASE_URL is not of this machine/m);
    assert.match(text, /^Requests GET \/feed \/: /m);
    assert.match(text, /^Left out, because they look like actions: \/logout$/m);
    assert.match(text, /^Left out, because they need a value: \/users\/:id$/m);
    assert.match(text, /^Left out: \/health$/m);
    assert.doesNotMatch(text, /Go on\?/);
  });

  test('asks a person once, and stops where the answer is no', async () => {
    const yes = await shown({ REDIS_URL: 'redis://127.0.0.1' }, '\n');
    assert.deepEqual([yes.goesOn, yes.text.match(/Go on\?/g)?.length], [true, 1]);
    assert.doesNotMatch(yes.text, /Start it\?/);
    const no = await shown({}, 'n\n');
    assert.equal(no.goesOn, false);
    assert.match(no.text, /Left out.*Go on\? \[Y\/n\].*Stopped; nothing was requested\./s);
    const unasked = await shown({}, 'n\n', { yes: true });
    assert.deepEqual([unasked.goesOn, /Go on/.test(unasked.text)], [true, false]);
  });

  test('asks before it starts what uses a service of another machine, and again once the routes are known', async () => {
    const remote = { REDIS_URL: 'redis://cache.example.com' };
    const { goesOn, text } = await shown(remote, 'n\n');
    assert.equal(goesOn, false);
    assert.match(text, /Start it\? \[Y\/n\].*Stopped; nothing was requested\./s);
    assert.doesNotMatch(text, /Requests GET/);
    const { text: unasked } = await shown(remote, '', { yes: true });
    assert.match(unasked, /^Listens at port 3000 \(HTTP, 4 GET routes\)\.$/m);
    assert.doesNotMatch(unasked, /\?/);
  });

  test('stops there with --dry-run', async () => {
    const { goesOn, text } = await shown({}, undefined, { dryRun: true });
    assert.equal(goesOn, false);
    assert.match(text, /Requests GET \/feed.*Nothing was requested: --dry-run\./s);
  });

  test('knows which services are of this machine', () => {
    const app = { cwd: '/nowhere', env: {} } as never;
    const typed = { command: ['node', 'a.js'], env: {} };
    const local = {
      A_URL: 'postgres://localhost:5432/a',
      REDIS_URL: 'redis://:secret@127.0.0.1',
      DATABASE_URL: 'file:./dev.db',
      MONGO_URI: 'mongodb://[::1]:27017,localhost:27018/x',
      PGHOST: '/var/run/postgresql',
    };
    const remote = {
      B_URL: 'mysql://10.0.0.3/a',
      KAFKA_BROKERS: 'localhost:9092,kafka.example.com:9092',
      DB_HOST: 'db',
    };
    const found = servicesOf(
      { app, typed },
      { ...local, ...remote, HOME: '/root', API_URL: 'https://a.b' },
    );
    const names = (isLocal: boolean): string[] =>
      found.filter((each) => each.isLocal === isLocal).map(({ name }) => name);
    assert.deepEqual(names(true).toSorted(), Object.keys(local).toSorted());
    assert.deepEqual(names(false).toSorted(), Object.keys(remote).toSorted());
  });
});
