#!/usr/bin/env node
// Checked first: in an older Node, the import would fail with an error of Node's own.
if (Number(process.versions.node.split('.')[0]) < 22) {
  process.stderr.write(`redline needs Node 22 or newer; this is ${process.version}.\n`);
  process.exit(2);
}
await import('../dist/cli.js');
