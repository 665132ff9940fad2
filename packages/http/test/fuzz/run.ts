// Random handlers and random bytes on node:http and on the engine, compared: what the client received, how the connection
// ended, and what every handler heard.
//   node packages/http/test/fuzz/run.ts [programs|bytes|files] [--seconds 60] [--cases 5000] [--seed 1] [--events]
//   node packages/http/test/fuzz/run.ts programs --case 1234     one case again, shrunk and shown
import * as node from 'node:http';
import { inspect, parseArgs } from 'node:util';
import * as engine from '../../src/index.ts';
import type { HttpModule } from '../conformance/engine.ts';
import { byteCase, fileCase, programCase, type Case } from './case.ts';
import { compare, confirmations, type Contestants } from './compare.ts';
import type { Difference } from './explained/difference.ts';
import { Contestant } from './contestant.ts';
import { Draw } from './draw.ts';
import { shrink } from './shrink.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '60' },
    /** At most so many of each kind. */
    cases: { type: 'string', default: 'Infinity' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000_000) },
    case: { type: 'string' },
    events: { type: 'boolean', default: false },
  },
});
const kinds = { programs: programCase, bytes: byteCase, files: fileCase };
type Kind = keyof typeof kinds;
const atOnce = 64;
const mostShown = 5;
const shrinkTries = 60;

const served = engine.engine();
if (served.name === 'node') {
  process.stdout.write(`Skipped: node:http serves here, for ${served.reason}.\n`);
  process.exit();
}
const contestants: Contestants = {
  node: await Contestant.start(node),
  redline: await Contestant.start(engine as unknown as HttpModule),
  level: values.events ? 'events' : 'wire',
};
const uncaught: string[] = [];
process.on('uncaughtException', (error) => {
  // Node's server asserts that requests finish in order, and a destroyed one behind others does not. The engine has no such code.
  const isOfNode = /ERR_INTERNAL_ASSERTION[^]*\n +at resOnFinish \(node:_http_server/;
  if (!isOfNode.test(String(error.stack))) uncaught.push(String(error.stack));
});

const wanted = (positionals.length > 0 ? positionals : Object.keys(kinds)) as Kind[];
const unknown = wanted.find((kind) => !(kind in kinds));
if (unknown !== undefined) {
  process.stderr.write(`${unknown} is no kind of case: give ${Object.keys(kinds).join(', ')}.\n`);
  process.exit(2);
}
let failures = 0;
if (values.case === undefined) for (const kind of wanted) await search(kind);
else await replay(wanted[0]!, Number(values.case));
contestants.node.stop();
contestants.redline.stop();
process.exitCode = failures + uncaught.length > 0 ? 1 : 0;
setTimeout(() => process.exit(), 500).unref();

async function search(kind: Kind): Promise<void> {
  const endAt = performance.now() + (Number(values.seconds) * 1_000) / wanted.length;
  let next = Number(values.seed);
  let count = 0;
  const found: { seed: number; difference: Difference }[] = [];
  const work = async (): Promise<void> => {
    while (performance.now() < endAt && found.length < 50 && uncaught.length === 0) {
      if (count >= Number(values.cases)) return;
      const seed = next++;
      count++;
      const difference = await compare(kinds[kind](new Draw(seed)), contestants);
      if (difference !== undefined) found.push({ seed, difference });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  // Again, alone and more often: among many a server is late now and then.
  const alone = [];
  for (const each of found) {
    if (await compare(each.difference.case, contestants, confirmations)) alone.push(each);
  }
  failures += alone.length;
  process.stdout.write(
    `${kind}: ${count} cases from seed ${values.seed}, ${alone.length} differ\n`,
  );
  for (const error of uncaught) process.stdout.write(`uncaught, near seed ${next - 1}: ${error}\n`);
  for (const { seed, difference } of alone.slice(0, mostShown)) await show(kind, seed, difference);
  if (alone.length > mostShown) {
    const seeds = alone.slice(mostShown).map(({ seed }) => seed);
    process.stdout.write(`and seeds ${seeds.join(' ')}\n`);
  }
}

async function replay(kind: Kind, seed: number): Promise<void> {
  const difference = await compare(kinds[kind](new Draw(seed)), contestants);
  if (difference === undefined) return void process.stdout.write(`${kind} ${seed}: the same\n`);
  failures++;
  await show(kind, seed, difference);
}

async function show(kind: Kind, seed: number, difference: Difference): Promise<void> {
  const fails = async (of: Case): Promise<boolean> =>
    (await compare(of, contestants)) !== undefined;
  const least = await shrink(difference.case, fails, shrinkTries);
  const shown = (await compare(least, contestants)) ?? difference;
  const options = { depth: 9, maxStringLength: 600, breakLength: 120 };
  process.stdout.write(
    `\n${kind} --case ${seed}\n${inspect(shown, options)}\ncorpus: ${JSON.stringify(shown.case)}\n`,
  );
}
