import { chmodSync, writeFileSync } from 'node:fs';
import spawn from 'cross-spawn';

writeFileSync('script', `#!${process.execPath}\nconsole.log('script', process.argv.slice(2));`);
chmodSync('script', 0o755);
writeFileSync('unexecutable', 'echo never');

const shape = (error) =>
  error && { ...error, name: error.name, message: error.message, stack: undefined };

async function show(...args) {
  const child = spawn(...args);
  const events = [];
  const output = ['', '', ''];
  for (const fd of [1, 2]) child.stdio[fd]?.on('data', (chunk) => (output[fd] += chunk));
  for (const name of ['spawn', 'error', 'exit']) {
    child.on(name, (...values) =>
      events.push([name, ...values.map((each) => each?.message ?? each)]),
    );
  }
  if (args[0] === 'cat') child.stdin.write('input');
  child.stdin?.end();
  const closed = await new Promise((resolve) => child.on('close', (...values) => resolve(values)));
  console.log(args, events, closed, output, child.spawnfile, child.spawnargs);
}

const calls = [
  ['./script', ['with space', '"quoted"', '$HOME', '*']],
  ['cat', ['-']],
  ['sh', ['-c', 'echo out; echo err >&2; kill -9 $$']],
  ['echo $((1 + 1)) && false', { shell: true }],
  ['pwd', [], { cwd: '/usr' }],
  ['env', [], { env: { PATH: '/usr/bin:/bin', B: '2', A: '1' } }],
  ['echo', ['shown'], { stdio: ['ignore', 'inherit', 'inherit'] }],
  ['no-such-program', ['a', 'b']],
  ['./unexecutable'],
  ['true', [], { cwd: 'no-such-folder' }],
  ['sleep', ['60'], { timeout: 500, killSignal: 'SIGINT' }],
];
for (const call of calls) await show(...call);
for (const call of calls) {
  const { pid, error, ...rest } = spawn.sync(call[0], call[1], { encoding: 'utf8', ...call[2] });
  console.log(call, rest, shape(error), typeof pid);
}
for (const call of [[''], ['a\0b'], ['true', 'x'], ['true', [], { stdio: 'odd' }]]) {
  for (const start of [spawn, spawn.sync]) {
    try {
      start(...call);
    } catch (error) {
      console.log(error.code, error.message);
    }
  }
}
