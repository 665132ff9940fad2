import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from 'commander';
import { innerCommand } from '../../../src/try/docker/inner-command.ts';

test("paths into the app's folder become relative, and no part of another path does", (t) => {
  const app = {
    root: '/app',
    below: 'web',
    manager: undefined,
    lock: undefined,
    unknownLocks: [],
  };
  const words = ['/app/x.js', '/srv/app/x.js', '--cert=/data/app/z.pem', '--key=/app/k:/app/l'];
  const command = new Command('try').argument('[words...]').action(() => {});
  const { argv } = process;
  t.after(() => void (process.argv = argv));
  process.argv = ['node', 'redline', '--', 'node', ...words];
  command.parse(process.argv);
  const { script } = innerCommand(command, app, false);
  assert.match(
    script,
    / \.\.\/x\.js \/srv\/app\/x\.js --cert=\/data\/app\/z\.pem --key=\.\.\/k:\.\.\/l /,
  );
});
