import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { engine } from '../src/index.ts';

const run = promisify(execFile);
const folder = join(import.meta.dirname, 'register');
const register = '@redline/http/register';
const isNative = engine().name === 'native';
const expected = isNative ? 'ConnectionSocket' : 'Socket';

/** What a program of the folder prints; its standard error has to stay empty. */
async function output(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<unknown> {
  const { NODE_OPTIONS: _, ...rest } = process.env;
  const { stdout, stderr } = await run(process.execPath, args, {
    cwd: folder,
    env: { ...rest, ...env },
  });
  assert.equal(stderr, '');
  return JSON.parse(stdout);
}

type Seen = Record<string, { socket: string; isServer: boolean; isOwn: boolean }>;

describe('register:', () => {
  for (const flag of ['--import', '--require']) {
    test(`with ${flag} every way to make a server is on the engine, and the rest as ever`, async () => {
      const plain = (await output(['servers.cjs'])) as Seen;
      const registered = (await output([flag, register, 'servers.cjs'])) as Seen;
      for (const [name, facts] of Object.entries(plain)) {
        assert.equal(facts.socket, 'Socket');
        const socket = name.endsWith('need Node') ? 'Socket' : expected;
        assert.deepEqual(registered[name], { ...facts, socket }, name);
      }
    });

    test(`with ${flag} every import is on the engine, in worker threads too`, async () => {
      const seen = {
        default: expected,
        named: expected,
        'named class': expected,
        namespace: expected,
      };
      const registered = await output([flag, register, 'imports.mjs']);
      assert.deepEqual(registered, { ...seen, inWorker: seen });
    });
  }

  test('by NODE_OPTIONS too, for threads and all', async () => {
    const registered = await output(['imports.mjs'], { NODE_OPTIONS: `--import=${register}` });
    const { inWorker, ...seen } = registered as Record<string, unknown>;
    assert.deepEqual(inWorker, seen);
    assert.equal(seen['named'], expected);
  });

  test('loads the engine when somebody asks for a server, not before', async () => {
    const program = `
      const http = require('node:http');
      const isLoaded = () => require('node:fs').readFileSync('/proc/self/maps', 'latin1').includes('.node\\n');
      const { request, Agent } = http;
      const before = [typeof http.createServer, http.createServer.name, http.createServer.length, isLoaded()];
      http.createServer();
      console.log(JSON.stringify([...before, isLoaded(), typeof Object.getOwnPropertyDescriptor(http, 'Server').value]));`;
    assert.deepEqual(await output(['--import', register, '--eval', program]), [
      'function',
      'createServer',
      2,
      false,
      isNative,
      'function',
    ]);
  });

  test('a program that imports the package itself beside node:http is on the engine', async () => {
    const program = `
      import http, { createServer, Server } from 'node:http';
      import { engine } from '${register.replace('/register', '')}';
      const servers = [createServer(), new Server(), new http.Server(), http.createServer()];
      for (const server of servers) await new Promise((done) => server.listen(0, '127.0.0.1', done));
      console.log(JSON.stringify(servers.map((server) => engine(server).name)));
      for (const server of servers) server.close();`;
    const args = ['--import', register, '--input-type=module', '--eval', program];
    const name = isNative ? 'native' : 'node';
    assert.deepEqual(await output(args), [name, name, name, name]);
  });

  test('a stub of createServer, and a class in the place of Server, stay there', async () => {
    const program = `
      const http = require('node:http');
      const { mock } = require('node:test');
      const stub = mock.method(http, 'createServer', () => 'stubbed');
      const stubbed = http.createServer();
      stub.mock.restore();
      class Own {}
      http.Server = Own;
      console.log(JSON.stringify([stubbed, http.createServer().constructor.name, http.Server === Own]));`;
    const registered = await output(['--import', register, '--eval', program]);
    assert.deepEqual(registered, await output(['--eval', program]));
  });

  test('REDLINE_HTTP=node leaves everything as it is', async () => {
    const env = { REDLINE_HTTP: 'node' };
    const registered = await output(['--import', register, 'servers.cjs'], env);
    assert.deepEqual(registered, await output(['servers.cjs']));
  });

  test('registered again, by another copy of the package as well, it is registered once', async () => {
    const copy = new URL('../src/register.ts', import.meta.url).href;
    const args = ['--import', register, '--require', register, '--import', copy, 'servers.cjs'];
    assert.deepEqual(await output(args), await output(['--import', register, 'servers.cjs']));
  });

  test('another copy of the package has its own servers all the same', async () => {
    const copy = new URL('../src/index.ts', import.meta.url).href;
    const program = `
      import { createServer } from '${copy}';
      import { Server } from 'node:http';
      const servers = [createServer(), createServer({ insecureHTTPParser: true })];
      console.log(JSON.stringify(servers.map((server) => server instanceof Server)));`;
    const args = ['--import', register, '--input-type=module', '--eval', program];
    assert.deepEqual(await output(args), [true, true]);
  });

  test('what was taken from node:http before is Node’s, and both know each other', async () => {
    const program = `
      const { createServer, Server } = require('node:http');
      require('${register}');
      const http = require('node:http');
      console.log(JSON.stringify([
        createServer() instanceof http.Server,
        http.createServer() instanceof Server,
        ({}) instanceof http.Server,
        require('node:net').createServer() instanceof http.Server,
        http.createServer() instanceof require('node:net').Server,
        Object.getPrototypeOf(http.Server) === require('node:net').Server,
        http.Server.name,
      ]));`;
    assert.deepEqual(await output(['--eval', program]), [
      true,
      true,
      false,
      false,
      true,
      true,
      'Server',
    ]);
  });

  test('options are refused as Node refuses them', async () => {
    const program = `
      const { createServer, Server } = require('node:http');
      const attempts = [
        () => createServer('3000'), () => new Server('3000'), () => new Server({ maxHeaderSize: -1 }),
        () => Server({ maxHeaderSize: -1 }),
      ];
      const codes = attempts.map((attempt) => {
        try { return attempt() && 'made'; } catch (error) { return error.code; }
      });
      console.log(JSON.stringify(codes));`;
    const plain = await output(['--eval', program]);
    assert.deepEqual(await output(['--import', register, '--eval', program]), plain);
  });
});
