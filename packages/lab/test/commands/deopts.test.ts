import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { DeoptsResult } from '../../src/deopts/result.ts';
import { Workbench } from './run-cli.ts';

const recorded = fileURLToPath(new URL('../deopts/fixtures/node-24.log', import.meta.url));

/** The first request is answered when V8 has optimised pad; the hundredth comes under load, and brings numbers below ten. */
const app = `
const http = require('node:http');
function pad(val) {
  return val >= 10 ? val : '0' + val;
}
const isOptimised = () => (%GetOptimizationStatus(pad) & 16) !== 0;
let from = 10;
let requests = 0;
http.createServer((request, response) => {
  let length = 0;
  do {
    for (let i = 0; i < 2000; i++) length += String(pad(from + (i % 80))).length;
  } while (!isOptimised() && requests === 0);
  if (++requests === 100) from = 0;
  response.end('ok');
}).listen(process.env.PORT, '127.0.0.1');
`;

describe('redline deopts', () => {
  test('finds where a running server lost optimised code, and shows the line', async (t) => {
    const workbench = new Workbench(t);
    workbench.write('app.cjs', app);
    const command = [process.execPath, '--allow-natives-syntax', 'app.cjs'];
    workbench.writeConfig({ variants: [{ name: 'app', command }] });
    const args = [
      'deopts',
      '--seconds',
      '1',
      '--warmup',
      '0',
      '--json',
      'd.json',
      '--html',
      'd.html',
    ];
    const { code, stdout, stderr } = await workbench.run(args);
    assert.equal(code, 0, stderr);
    const { functions, loadBegan } = JSON.parse(workbench.read('d.json')) as DeoptsResult;
    const sites = functions.flatMap((each) => each.sites);
    const site = sites.find(({ place }) => place === 'app.cjs:4:32');
    assert.ok(site, JSON.stringify(sites, undefined, 1));
    // V8 logs nothing while a profile is taken: the load has to come before it.
    assert.ok(site.lastSeconds! > loadBegan!, `${site.lastSeconds} is before ${loadBegan}`);
    assert.match(site.reason, /Insufficient type feedback for binary operation/);
    assert.equal(site.source!.text.trim(), "return val >= 10 ? val : '0' + val;");
    assert.match(stdout, /\| return val >= 10 \? val : '0' \+ val;\n\s+\| {30}\^/);
    assert.match(workbench.read('d.html'), /<mark>\+<\/mark>/);
  });

  test('reads a log from elsewhere', async (t) => {
    const workbench = new Workbench(t);
    const { code, stdout, stderr } = await workbench.run([
      'deopts',
      '--log',
      recorded,
      '--out',
      'o',
    ]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /Insufficient type feedback for binary operation/);
    workbench.write('no.log', 'nothing\n');
    const none = await workbench.run(['deopts', '--log', 'no.log']);
    assert.equal(none.code, 1);
    assert.match(none.stderr, /no\.log contains no code events: write it with node --log-code/);
  });
});
