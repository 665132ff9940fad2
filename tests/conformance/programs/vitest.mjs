import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

writeFileSync(
  'children.test.js',
  `import { execSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
test('it runs in a fork', () => expect([typeof process.send, process.connected]).toEqual(['function', true]));
test('a child echoes', async () => {
  const child = spawn('cat');
  child.stdin.end('echo');
  expect(String(await once(child.stdout, 'data'))).toBe('echo');
});
test('a sync child counts', () => expect(String(execSync('echo $((40 + 2))'))).toBe('42\\n'));
test('a fork of a fork answers', async () => {
  writeFileSync('answer.mjs', 'process.once("message", (m) => process.send({ m, at: new Date(0) }));');
  const child = fork('./answer.mjs', { serialization: 'advanced', execArgv: [] });
  child.send(new Map([[1n, 2]]));
  const [answer] = await once(child, 'message');
  expect(answer).toEqual({ m: new Map([[1n, 2]]), at: new Date(0) });
});`,
);
writeFileSync(
  'failing.test.js',
  `import { expect, test } from 'vitest';
test('this fails', () => expect({ a: [1, 2] }).toEqual({ a: [1, 3] }));
test.skip('this is skipped', () => {});
test('this writes', () => console.log('written in a fork'));`,
);

const vitest = fileURLToPath(new URL('node_modules/vitest/vitest.mjs', import.meta.url));
for (const more of [[], ['--no-isolate', '--maxWorkers=1']]) {
  const args = [
    vitest,
    'run',
    '--pool=forks',
    '--reporter=json',
    '--outputFile=report.json',
    ...more,
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  child.stdout.resume();
  console.log(await once(child, 'close'));
  const { testResults, success, numTotalTests } = JSON.parse(readFileSync('report.json', 'utf8'));
  console.log({ success, numTotalTests });
  for (const { name, status, message, assertionResults } of testResults.toSorted((a, b) =>
    a.name < b.name ? -1 : 1,
  )) {
    console.log(name, status, message);
    for (const { fullName, status: each, failureMessages } of assertionResults)
      console.log(
        fullName,
        each,
        failureMessages.map((text) => text.split('\n')[0]),
      );
  }
}
