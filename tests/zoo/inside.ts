// What happens in the namespace of one app; tests/zoo/run.ts starts it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { apps } from './apps/index.ts';
import { compareVisits, type Comparison } from './compare.ts';
import { freePorts, Setting } from './setting.ts';
import { interruptTry, tryApp, type TrySize } from './try-app.ts';
import { startOrigin, visit, type Visit } from './visit.ts';
import type { AppResult } from './zoo-result.ts';

export interface Job {
  name: string;
  /** The node_modules of its group. */
  modules: string;
  /** Where the result goes. */
  file: string;
  asks: boolean;
  trySize?: TrySize;
  isQuiet: boolean;
  interrupts?: { afterMs: number; toGroup: boolean }[];
}

/** Fewer mean that the app is not started as its users do. */
const minSucceeded = 4;

const job = JSON.parse(process.argv[2]!) as Job;
const app = apps.find(({ name }) => name === job.name)!;
const ports = await freePorts();
await using _origin = await startOrigin(ports.origin);
using setting = new Setting(app, ports, job.modules);
if (job.interrupts === undefined) {
  const result = facts();
  try {
    await build();
    if (job.asks) await ask(result);
  } catch (error) {
    result.failure = (error as Error).message;
  }
  if (job.trySize !== undefined && result.failure === undefined) {
    result.tried = await tryApp(setting, job.trySize, job.isQuiet);
  }
  write(result);
} else {
  await build();
  const left: string[] = [];
  for (const { afterMs, toGroup } of job.interrupts) {
    const seen = await interruptTry(setting, afterMs, toGroup);
    const who = toGroup ? 'its group' : 'it alone';
    const line = `${app.name}, ${who} after ${afterMs} ms: ${seen.left.join('; ')}`;
    if (seen.left.length > 0) left.push(line);
  }
  write(left);
}

function write(value: unknown): void {
  writeFileSync(job.file, JSON.stringify(value));
}

function facts(): AppResult {
  const { name, package: packageName, what } = app;
  const manifest = readFileSync(join(job.modules, packageName, 'package.json'), 'utf8');
  const { version } = JSON.parse(manifest) as { version: string };
  return {
    name,
    package: packageName,
    version,
    what,
    asked: app.asks(ports).length,
    succeeded: 0,
    unsteady: 0,
    engine: '',
    exits: [],
    differences: [],
    explained: [],
  };
}

/** Twice on Node and twice on the engine; once more of all where something differed, because an app is not as steady as its runs. */
async function ask(result: AppResult): Promise<void> {
  const node: Visit[] = [];
  const engine: Visit[] = [];
  const round = async (): Promise<Comparison> => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      node.push(await visit(setting, signal, false));
      engine.push(await visit(setting, signal, true));
    }
    return compareVisits(node, engine.slice(-2));
  };
  let comparison = await round();
  if (comparison.differences.length > 0) {
    const first = comparison.differences;
    comparison = await round();
    const isConfirmed = ({ ask: name, part }: (typeof first)[number]): boolean =>
      first.some((each) => each.ask === name && each.part === part);
    comparison.differences = comparison.differences.filter(isConfirmed);
  }
  const lines = engine.flatMap(({ engines }) => engines).filter((line) => / http /.test(line));
  const others = lines.filter((line) => !line.endsWith(' http native'));
  const reasons = [...new Set(others.map((line) => line.split(' ').slice(2).join(' ')))];
  result.engine =
    lines.length === 0
      ? 'no HTTP server was seen'
      : reasons.length === 0
        ? 'native'
        : reasons.join('; ');
  result.unsteady = comparison.unsteady;
  result.succeeded = node[0]!.exchanges.filter(isSuccess).length;
  if (result.succeeded < minSucceeded) {
    result.failure = `${result.succeeded} of ${result.asked} requests succeeded`;
  }
  result.exits = node.slice(0, 2).map(({ signal, exit }) => `${signal}: ${exit}`);
  for (const difference of comparison.differences) {
    const key = Object.keys(app.explained ?? {}).find((each) => difference.ask.startsWith(each));
    if (key === undefined) result.differences.push(difference);
    else if (!result.explained.includes(app.explained![key]!)) {
      result.explained.push(app.explained![key]!);
    }
  }
}

function isSuccess({ head }: Visit['exchanges'][number]): boolean {
  const status = Number(head[0]?.split(' ')[1]);
  return status >= 100 && status < 400;
}

async function build(): Promise<void> {
  if (app.build === undefined) return;
  const child = spawn(process.execPath, app.build(ports, setting.place), {
    cwd: setting.place.app,
    env: setting.env(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data: Buffer) => {
      output.push(data.toString());
    });
  }
  const [code] = await once(child, 'exit');
  if (code !== 0)
    throw new Error(`the build of ${app.name} failed: ${output.join('').slice(-2_000)}`);
  setting.keepBuild();
}
