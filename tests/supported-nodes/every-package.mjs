// Uses every package through its public entry, and prints the engines that served as JSON. Run by one Node after the other, and
// on every system.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { engine as spawnEngine, fork, spawn } from '@redline/child-process';
import { createDefer, defineJob } from '@redline/defer';
import { handlers } from '@redline/defer/sinks/handlers';
import redline from '@redline/eslint-plugin';
import { createServer, engine as httpEngine } from '@redline/http';
import { compareSlices } from '@redline/lab';
import { LoggerModule } from '@redline/nest';
import { JsonCache } from '@redline/response-cache';

const require = createRequire(import.meta.url);

const server = createServer((request, response) => response.end(`answer to ${request.url}`));
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const answer = await (await fetch(`http://127.0.0.1:${server.address().port}/x`)).text();
server.close();
server.closeAllConnections();

// Windows has no `echo` to spawn.
const child = spawn(process.execPath, ['-p', '"hi"']);
const [output] = await once(child.stdout, 'data');

const forked = fork(new URL('echo-message.mjs', import.meta.url), [], {
  silent: true,
});
forked.send({ n: 1 });
const [message] = await once(forked, 'message');
await once(forked, 'exit');

const job = defineJob('job');
const done = Promise.withResolvers();
const deferrer = createDefer({ sinks: { work: handlers({ job: done.resolve }) } });
deferrer.defer(job, 'deferred');
const deferred = await done.promise;
await deferrer.close();

assert.equal(answer, 'answer to /x');
assert.equal(String(output), 'hi\n');
assert.deepEqual(message, { n: 1 });
assert.equal(deferred, 'deferred');
assert.equal(await new JsonCache().answer('key', () => ({ n: 1 })), '{"n":1}');
assert.ok(Object.keys(require('@redline/http')).includes('createServer'));
for (const loaded of [redline.configs, compareSlices, LoggerModule]) assert.ok(loaded);
process.stdout.write(`${JSON.stringify([httpEngine(), spawnEngine()])}\n`);
