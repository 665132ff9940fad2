// Every function of node:child_process, one after the other, in a request to a server of Node's.
const childProcess = require('node:child_process');
const { once } = require('node:events');
const http = require('node:http');
const { createInterface } = require('node:readline');
const { promisify } = require('node:util');

const isRedline = process.env.ON_REDLINE === 'yes';

const calls = {
  exec: () => new Promise((resolve) => childProcess.exec('echo a', (_, stdout) => resolve(stdout))),
  'exec that fails': () =>
    new Promise((resolve) => childProcess.exec('exit 3', (error) => resolve(error.code))),
  'promisify(exec)': async () => (await promisify(childProcess.exec)('echo a; echo b >&2')).stderr,
  execFile: () =>
    new Promise((resolve) => childProcess.execFile('echo', ['a'], (_, stdout) => resolve(stdout))),
  'execFile of nothing': () =>
    new Promise((resolve) => childProcess.execFile('/nowhere', (error) => resolve(error.code))),
  'promisify(execFile)': async () => (await promisify(childProcess.execFile)('echo', ['a'])).stdout,
  spawn: async () => once(childProcess.spawn('true', ['a', 'b']), 'close'),
  'spawn with a shell': async () => once(childProcess.spawn('exit 2', { shell: true }), 'close'),
  'spawn of nothing': async () =>
    (await once(childProcess.spawn('/nowhere'), 'error')).map(({ code }) => code),
  fork: async () => once(childProcess.fork('-e', [], { execArgv: ['-e', '0'], env: {} }), 'close'),
  spawnSync: () => childProcess.spawnSync('true', ['a']).status,
  'spawnSync of nothing': () => childProcess.spawnSync('/nowhere').error.code,
  execSync: () => String(childProcess.execSync('echo a')),
  'execSync that fails': () => {
    try {
      return childProcess.execSync('exit 3', { stdio: 'ignore' });
    } catch (error) {
      return error.status;
    }
  },
  execFileSync: () => String(childProcess.execFileSync('echo', ['a'])),
};

/** An agent may see what `console.log` writes. */
const report = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

async function main() {
  const server = http.createServer(async (request, response) => {
    const results = {};
    for (const [name, call] of Object.entries(calls)) results[name] = await call();
    response.end(JSON.stringify(results));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const serving = isRedline ? require('@redline/child-process').engine() : { name: 'node' };
  report({ 'child processes': { port: server.address().port, serving } });
  const lines = createInterface({ input: process.stdin });
  await once(lines, 'line');
  await globalThis.agentUnderTest.flush();
  report(globalThis.agentUnderTest.spans);
  await once(lines, 'close');
  process.exit();
}
main();
