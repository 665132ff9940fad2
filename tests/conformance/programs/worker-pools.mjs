// The three pools of processes that Node's programs use most.
import { writeFileSync } from 'node:fs';
import { Worker } from 'jest-worker';
import { Tinypool } from 'tinypool';
import workerpool from 'workerpool';

const shape = ({ name, message, code }) => ({ name, message, code });
const attempt = (promise) => promise.then((value) => value, shape);

writeFileSync(
  'jest.cjs',
  `exports.add = (a, b) => a + b;
exports.large = (bytes) => 'x'.repeat(bytes);
exports.fails = () => { throw new TypeError('it fails'); };
exports.speaks = () => { console.log('spoken'); return process.env.JEST_WORKER_ID; };
exports.dies = () => process.exit(7);`,
);
const jest = new Worker(`${process.cwd()}/jest.cjs`, {
  exposedMethods: ['add', 'large', 'fails', 'speaks', 'dies'],
  numWorkers: 2,
  maxRetries: 0,
});
let output = '';
jest.getStdout().on('data', (chunk) => (output += chunk));
console.log(await Promise.all(Array.from({ length: 20 }, (_, n) => jest.add(n, 1))));
console.log((await jest.large(3_000_000)).length, await attempt(jest.fails()));
console.log(typeof (await jest.speaks()), await attempt(jest.dies()));
console.log(await jest.add(1, 2), await jest.end());
console.log(output);

writeFileSync(
  'tiny.mjs',
  `export default ({ a, b }) => a * b;
export const fails = () => { throw new RangeError('out of range'); };
export const bytes = (count) => new Uint8Array(count).fill(7);
export const dies = () => process.exit(3);`,
);
const tiny = new Tinypool({
  filename: new URL(`file://${process.cwd()}/tiny.mjs`).href,
  runtime: 'child_process',
  minThreads: 1,
  maxThreads: 2,
});
console.log(await Promise.all(Array.from({ length: 20 }, (_, n) => tiny.run({ a: n, b: 2 }))));
console.log(await attempt(tiny.run({}, { name: 'fails' })));
console.log((await tiny.run(100_000, { name: 'bytes' })).length);
await tiny.recycleWorkers();
console.log(await tiny.run({ a: 6, b: 7 }));
await tiny.destroy();

writeFileSync(
  'pool.cjs',
  `const workerpool = require(${JSON.stringify(new URL(import.meta.resolve('workerpool')).pathname)});
workerpool.worker({
  add: (a, b) => a + b,
  fails: () => { throw new Error('it fails'); },
  events: (count) => { for (let n = 0; n < count; n++) workerpool.workerEmit({ n }); return count; },
  hangs: () => new Promise(() => {}),
});`,
);
const pool = workerpool.pool(`${process.cwd()}/pool.cjs`, { workerType: 'process', maxWorkers: 2 });
console.log(await Promise.all(Array.from({ length: 20 }, (_, n) => pool.exec('add', [n, 3]))));
console.log(await attempt(pool.exec('fails')));
const seen = [];
console.log(await pool.exec('events', [5], { on: (event) => seen.push(event) }), seen);
console.log(await attempt(pool.exec('hangs').timeout(300)), await pool.exec('add', [1, 1]));
await pool.terminate();
console.log(pool.stats());
