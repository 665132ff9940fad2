// A server of each framework in one process, below an agent. Standard output: a line with what serves each, and, once everybody has
// been served, one with the spans that the agent kept.
const { once } = require('node:events');
const { createInterface } = require('node:readline');
const { frameworks } = require('./frameworks.cjs');

const [names] = process.argv.slice(2);
const isRedline = process.env.ON_REDLINE === 'yes';

/** A client that has left is noticed in a later turn. */
async function nobody(server) {
  for (;;) {
    const { promise, resolve } = Promise.withResolvers();
    server.getConnections((_, count) => resolve(count));
    if ((await promise) === 0) return;
    await new Promise((done) => setTimeout(done, 5));
  }
}

/** An agent may see what `console.log` writes. */
const report = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);

async function main() {
  const servers = {};
  const seen = {};
  for (const name of names.split(',')) {
    const server = await frameworks[name]();
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    const serving = isRedline ? require('@redline/http').engine(server) : { name: 'node' };
    servers[name] = server;
    seen[name] = { port: server.address().port, serving };
  }
  report(seen);
  const lines = createInterface({ input: process.stdin });
  await once(lines, 'line');
  for (const server of Object.values(servers)) await nobody(server);
  await new Promise((done) => setTimeout(done, 20));
  await globalThis.agentUnderTest.flush();
  report(globalThis.agentUnderTest.spans);
  await once(lines, 'close');
  process.exit();
}
main();
