import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { commandText, parseCommand } from '../../src/config/command-line.ts';
import { loadTarget, shortName } from '../../src/config/from-url.ts';

describe('what starts a server', () => {
  for (const [given, command, env] of [
    ['node server.js', ['node', 'server.js'], {}],
    ['  node   "my app.js" --name=\'a b\' ', ['node', 'my app.js', '--name=a b'], {}],
    ['FOO=1 BAR="a b" node x.js BAZ=2', ['node', 'x.js', 'BAZ=2'], { FOO: '1', BAR: 'a b' }],
    ['node a\\ b.js "say \\"hi\\""', ['node', 'a b.js', 'say "hi"'], {}],
    ["node -e ''", ['node', '-e', ''], {}],
    [['node', 'my app.js'], ['node', 'my app.js'], {}],
    [['FOO=1', 'pnpm', 'start'], ['pnpm', 'start'], { FOO: '1' }],
    ['env FOO=1 npm start', ['npm', 'start'], { FOO: '1' }],
    [['env', 'FOO=a b', 'npm', 'start'], ['npm', 'start'], { FOO: 'a b' }],
    ['env -i FOO=1 npm start', ['env', '-i', 'FOO=1', 'npm', 'start'], {}],
    // As a shell hands over a quoted command.
    [['FOO=1 node server.js'], ['node', 'server.js'], { FOO: '1' }],
  ] as const) {
    test(`${JSON.stringify(given)} is read as a shell would read it`, () => {
      assert.deepEqual(parseCommand(given), { command, env });
    });
  }

  test('is written as it can be typed again', () => {
    const text = `FOO='a b' BAR='it'\\''s' node 'my app.js' --x=1`;
    assert.equal(commandText(parseCommand(text)), text);
  });

  test('is refused where only a shell could do it, or where nothing is started', () => {
    assert.throws(() => parseCommand('cd app && node x.js'), /& in "cd app && node x.js" needs a/);
    assert.throws(() => parseCommand('node "x.js'), /is not closed/);
    assert.throws(() => parseCommand('FOO=1'), /names no program to start/);
  });
});

describe('URL -- COMMAND', () => {
  test('is a config of one variant, which may insist on the port of the URL', async () => {
    const { config } = await loadTarget('http://127.0.0.1:3000/feed?page=2', [
      'FOO=1',
      'node',
      'dist/main.js',
    ]);
    assert.deepEqual(config.variants, [
      { name: 'main.js', command: ['node', 'dist/main.js'], env: { FOO: '1' }, port: 3000 },
    ]);
    assert.deepEqual(config.requests, ['/feed?page=2']);
  });

  test('compares as many as there are commands, by names that differ', async () => {
    const namesOf = async (...words: string[]): Promise<string[]> =>
      (await loadTarget('http://[::1]:3000/', words)).config.variants.map(({ name }) => name);
    assert.deepEqual(await namesOf('node', 'old.js', '--', 'node', 'new.js'), ['old.js', 'new.js']);
    assert.deepEqual(
      await namesOf('node', 'a.js', '--', 'FAST=1', 'node', 'a.js', '--', 'node', 'a.js'),
      ['node a.js', 'FAST=1 node a.js', 'node a.js #2'],
    );
  });

  test('is named after what is asked, and keeps a placeholder in its path', async () => {
    const request = { method: 'post', request: '/orders/{{id}}' };
    const asked = await loadTarget('http://[::1]:3000/', ['node', 'a.js'], { request });
    assert.equal(asked.config.title, 'a.js, POST /orders/{{id}}');
    assert.deepEqual(asked.config.variants[0]!.env, { HOST: '::1' });
    const { config: braces } = await loadTarget('http://localhost/orders/{{id}}', ['node', 'a.js']);
    assert.deepEqual(braces.requests, ['/orders/{{id}}']);
  });

  test('says what is wrong with it', async () => {
    await assert.rejects(loadTarget('http://127.0.0.1:3000/', []), /needs what starts the app/);
    await assert.rejects(loadTarget('http://example.com/', ['node', 'x']), /is another machine/);
    await assert.rejects(loadTarget('https://127.0.0.1/', ['node', 'x']), /served over TLS/);
    await assert.rejects(loadTarget('config.ts', ['node', 'x']), /A command goes with a URL/);
  });
});

for (const [command, name] of [
  ['node dist/main.js', 'main.js'],
  ['node --import tsx src/main.ts', 'main.ts'],
  ['node -r ts-node/register --inspect=0 src/main.ts', 'main.ts'],
  ['npx tsx watch src/main.ts', 'main.ts'],
  ['pnpm run start:prod', 'start:prod'],
  ['npm start', 'start'],
  ['bun run server.ts', 'server.ts'],
  ['./server', 'server'],
] as const) {
  test(`an app that \`${command}\` starts is called ${name}`, () => {
    assert.equal(shortName(command.split(' ')), name);
  });
}
