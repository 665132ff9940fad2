import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { engine, type ServerEngine } from '../src/index.ts';

const skip = engine().name === 'node' && 'the native engine does not serve here';
const program = join(import.meta.dirname, 'replaced/create-server.cjs');
const register = fileURLToPath(import.meta.resolve('@redline/http/register'));

interface Outcome {
  seen: unknown[];
  serving: ServerEngine[];
}

/** What a wrapper of `http.createServer` and a client see. */
async function outcome(...args: string[]): Promise<Outcome> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args]);
  return JSON.parse(stdout) as Outcome;
}

const native = { name: 'native' };
const lenient = { name: 'node', reason: 'only Node supports the option insecureHTTPParser' };

describe('a wrapper of http.createServer', { skip }, () => {
  for (const order of ['before', 'after']) {
    for (const how of ['assign', 'define', 'own listen']) {
      test(`(${how}) ${order} register is called, and its servers are the engine's`, async () => {
        const { seen, serving } = await outcome(register, order, how);
        assert.deepEqual(seen, (await outcome('', order, how)).seen);
        assert.deepEqual(serving, [native, native, lenient, native]);
      });
    }
  }

  for (const [how, what] of [
    ['own close', 'its server has a close of its own'],
    ['proxy', 'it was created by node:http'],
  ] as const) {
    test(`(${how}) before register is called, and engine(server) says why Node serves`, async () => {
      const { seen, serving } = await outcome(register, 'before', how);
      assert.deepEqual(seen, (await outcome('', 'before', how)).seen);
      assert.equal(serving[0]!.name, 'node');
      assert.ok((serving[0] as { reason: string }).reason.includes(what), JSON.stringify(serving));
    });
  }
});
