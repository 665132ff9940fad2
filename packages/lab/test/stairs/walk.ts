import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
// Built: the preload is loaded by the servers under test, whatever started them.
import { Session } from '../../dist/stairs/session.js';
import { type CommonPath, findCommonPath } from '../../dist/stairs/common-path.js';
import type { StairsTarget } from '../../dist/stairs/target.js';
import { startCut, traceRequest } from '../../dist/stairs/trace-request.js';
import { send } from '../../dist/servers/contract.js';
import { pinSelf } from '../../dist/system/pinning.js';

const whole = 100_000;

export function targetOf(
  app: string,
  path: string,
  env: Record<string, string> = {},
  body: string = '',
): StairsTarget {
  const [method, headers] =
    body === '' ? ['GET', {}] : ['POST', { 'content-type': 'application/json' }];
  const url = new URL(app.includes('/') ? app : `./apps/${app}`, import.meta.url);
  const file = fileURLToPath(url);
  return {
    scenario: app,
    title: app,
    variant: {
      name: app,
      note: undefined,
      beside: false,
      over: undefined,
      command: [process.execPath, file],
      cwd: fileURLToPath(new URL('.', url)),
      env,
      port: undefined,
      probe: undefined,
    },
    request: { method, path, headers, body, compare: 'body', timed: true },
    replayed: undefined,
    asked: `${method} ${path}`,
    connections: 4,
    pin: false,
    readyTimeoutMs: 60_000,
    setup: undefined,
    redirectFrom: undefined,
  };
}

export interface Walked {
  commonPath: CommonPath;
  names: string[];
  frameworks: string[];
  unreadable: string[];
  /** What came back from every cut, and afterwards from the whole request. */
  cuts: { name: string; status: number; body: string; stubs: number }[];
  before: string;
  after: string;
  /** What the app wrote to standard error: an ended request must not look like a failed one. */
  complaints: string;
}

export interface WalkOptions {
  times?: number;
  /** Of a POST. */
  body?: string;
  afterCut?: (port: number) => Promise<void>;
}

/** Traces a request of an app, then ends requests at each of its stages. */
export async function walk(
  app: string,
  path: string,
  env?: Record<string, string>,
  { times = 1, body, afterCut }: WalkOptions = {},
): Promise<Walked> {
  const target = targetOf(app, path, env, body);
  const context = { env: {}, pinning: pinSelf(false), signal: AbortSignal.timeout(100_000) };
  const traces = await traceRequest(target, context);
  const commonPath = findCommonPath(traces);
  await using session: Session = await startCut(
    target,
    commonPath,
    [...commonPath.stages.keys()],
    context,
  );
  const ask = async (): Promise<{ status: number; body: string }> => {
    const answer = await send(session.server, target.request, { timeoutMs: 20_000 });
    return { status: answer.status, body: answer.body.toString() };
  };
  const before = (await ask()).body;
  const cuts: Walked['cuts'] = [];
  for (const [cut, { name }] of commonPath.stages.entries()) {
    const held = await session.ask({ type: 'hold', cut }, 'held');
    let answer = await ask();
    for (let count = 1; count < times; count++) answer = await ask();
    const { stubs } = await session.ask({ type: 'hold', cut: whole }, 'held');
    cuts.push({ name, ...answer, stubs: (stubs - held.stubs) / times });
    await afterCut?.(session.server.port);
  }
  const after = (await ask()).body;
  const failure = await session.server.failure('was asked');
  return {
    commonPath,
    names: commonPath.stages.map(({ name }) => name),
    frameworks: traces[0]!.frameworks,
    unreadable: traces[0]!.unreadable,
    cuts,
    before,
    after,
    complaints: failure.message.split('. ').slice(1).join('. '),
  };
}

export function assertEndsEverywhere({ cuts, before, after, complaints }: Walked): void {
  for (const { name, status, body, stubs } of cuts) {
    assert.deepEqual({ name, status, body, stubs }, { name, status: 200, body: '', stubs: 1 });
  }
  assert.notEqual(before, '');
  assert.equal(after, before);
  assert.doesNotMatch(complaints, /rror|RedlineCut/);
}

export function withoutPlaces(names: readonly string[]): string[] {
  return names.map((name) => name.replace(/ :\d+$/, ''));
}
