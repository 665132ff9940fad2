#!/usr/bin/env node
// An import that fails in an older Node would say so in Node's words.
if (Number(process.versions.node.split('.')[0]) < 22) {
  process.stderr.write(`redline needs Node 22 or newer; this is ${process.version}.\n`);
  process.exit(2);
}
await import('../dist/cli.js');
