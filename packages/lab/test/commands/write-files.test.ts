import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Workbench } from './run-cli.ts';

const line =
  '1.2.3.4 - - [10/Oct/2026:13:55:36 +0000] "GET /users/1 HTTP/1.1" 200 23 "-" "curl" 0.401\n';

describe('a report', () => {
  test('is printed in full where it cannot be written', async (t) => {
    const workbench = new Workbench(t);
    workbench.write('access.log', line);
    // A folder below a file cannot be made, whoever asks.
    const { code, stdout, stderr } = await workbench.run([
      'top',
      'access.log',
      '--out',
      'access.log/out',
    ]);
    assert.equal(code, 1);
    assert.match(stdout, /GET \/users\/:id +100 % /);
    assert.doesNotMatch(stdout, /access\.log\/out/);
    assert.match(
      stderr,
      /^redline: Not written: access\.log\/out\/top-\w+\.json, access\.log\/out\/top-\w+\.html: ENOTDIR.*--out names a folder/,
    );
    assert.equal(stderr.trim().split('\n').length, 1);
  });

  test('of a comparison is printed in full where it cannot be written', async (t) => {
    const workbench = new Workbench(t);
    workbench.writeConfig({ variants: [workbench.variant('app')] });
    workbench.write('file', '');
    const { code, stdout, stderr } = await workbench.run(['bench', '--out', 'file/out']);
    assert.equal(code, 1);
    assert.match(stdout, /CPU per request/);
    assert.match(stderr, /Not written: file\/out\/.*ENOTDIR/);
  });

  test('goes to standard output by the name -, and the table to standard error', async (t) => {
    const workbench = new Workbench(t);
    workbench.write('access.log', line);
    const { code, stdout, stderr } = await workbench.run(['top', 'access.log', '--json', '-']);
    assert.equal(code, 0, stderr);
    const { routes } = JSON.parse(stdout) as { routes: { route: string; meanMs: number }[] };
    assert.deepEqual([routes[0]!.route, routes[0]!.meanMs], ['/users/:id', 401]);
    assert.match(stderr, /GET \/users\/:id +100 % /);
  });
});
