import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';

const action = join(import.meta.dirname, '../action');

interface Comment {
  id: number;
  body: string;
}

/** As much of GitHub as the action asks for. */
async function github(context: TestContext, comments: Comment[], refuses = false): Promise<string> {
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      if (refuses) return response.writeHead(403).end('{}');
      const { pathname, searchParams } = new URL(request.url!, 'http://api');
      const body = text === '' ? '' : (JSON.parse(text) as Comment).body;
      const [, id] = /^\/repos\/o\/r\/issues\/comments\/(\d+)$/.exec(pathname) ?? [];
      if (request.method === 'POST') comments.push({ id: comments.length + 1, body });
      else if (id !== undefined) comments[Number(id) - 1]!.body = body;
      const start = (Number(searchParams.get('page') ?? 1) - 1) * 100;
      return response.end(JSON.stringify(comments.slice(start, start + 100)));
    });
  }).listen(0, '127.0.0.1');
  context.after(() => server.close());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Runs the action in a project whose redline notes how it is called and writes a report. */
async function runAction(
  context: TestContext,
  api: string,
  inputs: Record<string, string>,
  redline = "if (args[0] === 'ci') process.exitCode = 1;",
): Promise<{ code: number; calls: string[][]; summary: string; stderr: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'redline-action-test-'));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const bin = join(folder, 'node_modules/.bin');
  mkdirSync(bin, { recursive: true });
  writeFileSync(
    join(bin, 'redline'),
    `#!${process.execPath}
    const { appendFileSync, writeFileSync } = require('node:fs');
    const args = process.argv.slice(2);
    appendFileSync('calls', JSON.stringify(args) + '\\n');
    const report = () => writeFileSync(args[args.indexOf('--md') + 1], '### of ' + args[0] + '\\n');
    ${redline === '' ? '' : redline}
    if (!${JSON.stringify(redline)}.includes('throw')) report();`,
  );
  chmodSync(join(bin, 'redline'), 0o755);
  const [event, summary] = [join(folder, 'event.json'), join(folder, 'summary')];
  writeFileSync(event, '{"pull_request":{"number":7}}');
  writeFileSync(summary, '');
  const child = spawn(process.execPath, [join(action, 'run.mjs')], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      GITHUB_API_URL: api,
      GITHUB_REPOSITORY: 'o/r',
      GITHUB_EVENT_PATH: event,
      GITHUB_STEP_SUMMARY: summary,
      GITHUB_TOKEN: 'secret',
      REDLINE_NAME: 'redline',
      ...inputs,
    },
  });
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  const calls = readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n');
  return {
    code,
    stderr,
    calls: calls.map((line) => JSON.parse(line) as string[]),
    summary: readFileSync(summary, 'utf8'),
  };
}

describe('the action', () => {
  test('keeps one comment, with the comparison and the budget, and fails when one of them does', async (t) => {
    const comments: Comment[] = Array.from({ length: 120 }, (_, at) => ({ id: at + 1, body: 'x' }));
    const api = await github(t, comments);
    const inputs = {
      REDLINE_TARGET: 'http://127.0.0.1:3000/feed',
      REDLINE_COMMAND: 'node app.js',
      REDLINE_FAIL_IF_SLOWER: '3%',
      REDLINE_BUDGET: 'stairs.json',
      REDLINE_OPTIONS: `-H "x-one: 1 2" --connections 8`,
    };
    const { code, calls, summary } = await runAction(t, api, inputs);
    assert.equal(code, 1);
    const withoutFiles = calls.map((args) => args.filter((each) => !each.includes(tmpdir())));
    // prettier-ignore
    assert.deepEqual(withoutFiles, [
      ['ci', 'http://127.0.0.1:3000/feed', '--fail-if-slower', '3%', '-H', 'x-one: 1 2', '--connections', '8', '--md', '--out', '--', 'node app.js'],
      ['stairs', 'http://127.0.0.1:3000/feed', '--budget', 'stairs.json', '--md', '--out', '--', 'node app.js'],
    ]);
    const wanted = '### of ci\n\n### of stairs\n';
    assert.equal(summary, wanted);
    assert.equal(comments.length, 121);
    assert.equal(comments[120]!.body, `<!-- redline: redline -->\n${wanted}`);
    const again = await runAction(t, api, { ...inputs, REDLINE_BUDGET: '' }, ' ');
    assert.equal(again.code, 0);
    assert.equal(comments.length, 121);
    assert.equal(comments[120]!.body, '<!-- redline: redline -->\n### of ci\n');
  });

  test('says why there is no report, and never fails for a comment that may not be written', async (t) => {
    const comments: Comment[] = [];
    const failing = `throw new Error('no such revision')`;
    const { code, summary } = await runAction(t, await github(t, comments), {}, failing);
    assert.equal(code, 1);
    assert.match(summary, /^### redline ci did not finish\n[^]*no such revision/);
    assert.match(comments[0]!.body, /did not finish/);
    const forked = await runAction(t, await github(t, comments, true), {}, ' ');
    assert.equal(forked.code, 0);
    assert.match(forked.stderr, /::warning::redline could not write its comment: .*403/);
    const silent = await runAction(t, await github(t, comments), { REDLINE_COMMENT: 'false' }, ' ');
    assert.equal(silent.code, 0);
    assert.equal(comments.length, 1);
  });

  test('has a variable for every input, and an input for every variable', () => {
    const yaml = readFileSync(join(action, 'action.yml'), 'utf8');
    const [, inputs = ''] = /^inputs:\n([^]*?)^runs:/m.exec(yaml) ?? [];
    const names = [...inputs.matchAll(/^ {2}([\w-]+):/gm)].map(([, name]) => name!);
    const used = [...yaml.matchAll(/\$\{\{ inputs\.([\w-]+) \}\}/g)].map(([, name]) => name!);
    assert.ok(names.length > 10);
    assert.deepEqual(used.toSorted(), names.toSorted());
  });
});
