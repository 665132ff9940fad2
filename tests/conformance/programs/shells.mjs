// shelljs, which starts its children synchronously or with callbacks, and nodemon, which restarts one.
import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import shell from 'shelljs';

shell.config.silent = true;
const show = (label, { code, stdout, stderr }) => console.log(label, { code, stdout, stderr });
show('exec', shell.exec('echo out; echo err >&2; exit 5'));
show('input', shell.echo('some input').exec('tr a-z A-Z'));
show('cmd', shell.cmd('sh', '-c', 'echo "$0 $1"', 'a b', '$HOME'));
show('missing', shell.exec('no-such-program'));
show('missing cmd', shell.cmd('no-such-program'));
show(
  'options',
  shell.exec('pwd; echo $FRUIT', { cwd: '/', env: { FRUIT: 'plum', PATH: process.env.PATH } }),
);
show('large', { ...shell.exec('head -c 300000 /dev/zero | wc -c') });
show('timeout', shell.exec('sleep 60', { timeout: 300 }));
console.log(shell.which('sh').code, shell.which('no-such-program'));
await new Promise((resolve) => {
  const child = shell.exec('echo later; exit 6', (code, stdout, stderr) => {
    show('async', { code, stdout, stderr });
    resolve();
  });
  child.stdout.on('data', (chunk) => console.log('a chunk', chunk));
});

const started = (n) =>
  `console.log('started ${n}'); process.on('exit', () => console.log('over')); setInterval(() => {}, 1000);`;
writeFileSync('app.cjs', started(1));
const bin = fileURLToPath(new URL('node_modules/nodemon/bin/nodemon.js', import.meta.url));
const args = [
  bin,
  '--quiet',
  '--delay',
  '0.1',
  '--signal',
  'SIGTERM',
  '--watch',
  'app.cjs',
  'app.cjs',
];
const nodemon = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
let output = '';
nodemon.stdout.setEncoding('utf8');
const until = async (text) => {
  while (!output.includes(text)) output += (await once(nodemon.stdout, 'data'))[0];
};
await until('started 1');
// It looks at the times of files, which may have a resolution of a second.
await new Promise((resolve) => setTimeout(resolve, 1100));
writeFileSync('app.cjs', started(2));
await until('started 2');
writeFileSync('app.cjs', "console.log('ends'); process.exitCode = 3;");
await new Promise((resolve) => setTimeout(resolve, 1100));
writeFileSync('app.cjs', "console.log('ends by itself');");
await until('ends by itself');
const closed = once(nodemon, 'close');
nodemon.kill('SIGINT');
console.log(await closed, output.includes('started 2'), output.split('\n').at(-2));
