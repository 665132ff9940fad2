import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TryResult } from '../../src/try/result.ts';
import { Workbench } from './run-cli.ts';

const needsEngine = process.platform === 'linux' ? false : 'the engine is for Linux';
/** The least measuring there is. */
const shortest = ['--restarts', '1', '--connections', '4', '--json', 'r.json'];
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
    const { code, stderr } = await bench.run(['try', ...shortest, ...node]);
    assert.equal(code, 0, stderr);
    assert.match(
      stderr,
      /^The app cannot run twice \(another instance is running\): its copies run one/m,
    );
    assert.match(stderr, /^Listens at port 4400, in this run at \d+ \(HTTP\)\.$/m);
    assert.match(stderr, /^Takes about /m);
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

  test('says with what a login is refused, without what was typed', async (t) => {
    const bench = new Workbench(t);
    bench.write(
      'app.cjs',
      `require('node:http').createServer((request, response) => {
        response.statusCode = request.url === '/login' ? 401 : 200;
        response.end();
      }).listen(process.env.PORT);`,
    );
    const wrong = await bench.run(['try', '--login', 'POST /login {"word":"sesame"}', ...node]);
    assert.equal(wrong.code, 1);
    assert.match(
      wrong.stderr,
      /answers the login POST \/login with 401\. \(ERR_REDLINE_CONTRACT\)/,
    );
    assert.doesNotMatch(wrong.stderr, /sesame/);
  });
});
