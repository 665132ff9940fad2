import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { describe, test } from 'node:test';
import type { TryResult } from '../../src/try/result.ts';
import { Workbench } from './run-cli.ts';

const { resolve } = createRequire(import.meta.url);
const needsEngine = process.platform === 'linux' ? false : 'the engine is for Linux';
/** The least measuring there is. */
const least = ['--restarts', '1', '--connections', '4', '--json', 'r.json'];
const node = ['--', 'node', 'app.cjs'];

function resultOf(bench: Workbench): TryResult {
  return JSON.parse(bench.read('r.json')) as TryResult;
}

describe('redline try', { skip: needsEngine }, () => {
  test('measures an app with a lock one copy at a time, says so, and leaves no lock', async (t) => {
    const bench = new Workbench(t);
    bench.write(
      'app.cjs',
      `const { closeSync, openSync, rmSync } = require('node:fs');
      try {
        closeSync(openSync('lock', 'wx'));
      } catch {
        console.error('another instance is running');
        process.exit(1);
      }
      process.on('exit', () => rmSync('lock'));
      process.on('SIGTERM', () => process.exit());
      require('node:http').createServer((request, response) => response.end('ok')).listen(4400);`,
    );
    const { code, stderr } = await bench.run(['try', ...least, ...node]);
    assert.equal(code, 0, stderr);
    assert.match(
      stderr,
      /^The app cannot run twice \(another instance is running\): its copies run one/m,
    );
    assert.match(stderr, /^Listens at port 4400, in this run at \d+ \(HTTP\)\.$/m);
    assert.match(stderr, /^Measures for about /m);
    const { bench: measured, app } = resultOf(bench);
    assert.equal(app.port, 4400);
    assert.match(measured.warnings.join('\n'), /copies ran one at a time, alternating/);
    assert.deepEqual(
      [...measured.variants, measured.control].map((each) => 'rps' in each && each.rps > 0),
      [true, true, true],
    );
    assert.throws(() => bench.read('lock'));
    assert.deepEqual(bench.survivors(), []);
  });

  test('logs in to each copy, whose sessions are its own, and writes no secret anywhere', async (t) => {
    const bench = new Workbench(t);
    bench.write(
      'app.cjs',
      `const express = require(${JSON.stringify(resolve('express'))});
      const app = express();
      const session = require('node:crypto').randomUUID();
      app.post('/login', express.json(), (request, response) => {
        if (request.body.word !== 'open sesame') return response.sendStatus(401);
        response.cookie('theme', 'dark').cookie('sid', session, { httpOnly: true }).json({});
      });
      app.get('/orders', (request, response) => {
        const known = request.headers.cookie?.includes('sid=' + session);
        response.status(known ? 200 : 401).json({ orders: [] });
      });
      app.listen(process.env.PORT);`,
    );
    const login = ['--login', 'POST /login {"word":"open sesame"}'];
    const report = ['--md', 'r.md', '--html', 'r.html'];
    const { code, stdout, stderr } = await bench.run([
      'try',
      ...least,
      ...report,
      ...login,
      ...node,
    ]);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^Logs in to each copy once: POST \/login\.$/m);
    const result = resultOf(bench);
    assert.deepEqual(
      [result.title, result.app.framework],
      ['node app.cjs, GET /orders', 'Express'],
    );
    const written = ['r.json', 'r.md', 'r.html'].map((name) => bench.read(name));
    for (const text of [stdout, stderr, ...written]) assert.doesNotMatch(text, /sesame|sid=/);
    const wrong = await bench.run(['try', '--login', 'POST /login {"word":"?"}', ...node]);
    assert.match(
      wrong.stderr,
      /answers the login POST \/login with 401\. \(ERR_REDLINE_CONTRACT\)/,
    );
  });
});
