#!/usr/bin/env node
// Not in dist, so that npm finds it when a fresh clone is installed before it is built. An import that fails in an
// older Node would say so in Node's words.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 2)) {
  process.stderr.write(`redline-defer needs Node 22.2 or newer; this is ${process.version}.\n`);
  process.exit(2);
}
await import('../dist/inspect/cli.js');
