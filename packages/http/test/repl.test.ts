import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';

/** The REPL loads `domain` and has it as a global: Node looks for a domain at the object that an addon calls back on. */
test('a server answers in the REPL', async () => {
  const index = new URL('../dist/index.js', import.meta.url).pathname;
  const repl = spawn(process.execPath, ['--interactive'], { stdio: ['pipe', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [repl.stdout, repl.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = once(repl, 'close');
  // What is typed does not end: the REPL would.
  for (const line of [
    `const server = require(${JSON.stringify(index)}).createServer((_, response) => response.end('yes'))`,
    `const get = () => fetch('http://127.0.0.1:' + server.address().port)`,
    `const ask = () => get().then((response) => response.text()).then((text) => console.log('Answered:', text))`,
    `server.listen(0, () => ask().finally(() => process.exit()))`,
  ])
    repl.stdin.write(`${line}\n`);
  await ended;
  assert.match(output, /Answered: yes/);
});
