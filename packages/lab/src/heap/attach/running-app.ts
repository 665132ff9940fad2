import { setTimeout as sleep } from 'node:timers/promises';
import type { Asked, Chosen } from '../../command/choose-variant.ts';
import { isUrl, localUrl, pathOf } from '../../config/from-url.ts';
import { type RequestOptions, withRequestOptions } from '../../config/request-options.ts';
import { type Overrides, resolvePlans } from '../../config/resolve-plan.ts';
import { LabError } from '../../errors.ts';
import { findEndpoint } from '../../load/endpoint.ts';
import { type Inspected, Inspector } from '../../profile/inspector.ts';
import { isRunning, untilGone } from '../../servers/until-idle.ts';
import { readMachine } from '../../system/machine.ts';
import type { HeapApp } from '../app.ts';
import { evaluate } from '../memory.ts';
import { type OpenInspector, openInspector } from './open-inspector.ts';
import { folderOf, listeningPorts, requireNode } from './process-facts.ts';

/**
 * Returns the plan for a running process: the request of a URL.
 * @throws {LabError} ERR_REDLINE_OPTION for a config or a command beside it
 */
export async function choosePid(
  { target, command = [], request = {} }: Asked,
  pid: number,
  overrides: Overrides & RequestOptions,
): Promise<Chosen> {
  if (!isUrl(target) || command.length > 0) {
    throw new LabError(
      'ERR_REDLINE_OPTION',
      `--pid ${pid} names a running process: give its URL and no command: redline heap http://127.0.0.1:3000/ --pid ${pid}`,
    );
  }
  const url = localUrl(target);
  const name = `process ${pid}`;
  const folder = folderOf(pid);
  const config = withRequestOptions(
    { name: `pid-${pid}`, requests: [pathOf(url)], variants: [{ name, command: ['node'] }] },
    request,
  );
  const [plan] = resolvePlans({ ...config, title: `${name}, ${target}` }, folder, overrides);
  const variant = { ...plan!.variants[0]!, port: Number(url.port || 80) };
  return { plan: { ...plan!, variants: [variant] }, variant, folder };
}

/**
 * Opens the inspector of a process, does the work, and closes the inspector again unless it was open before.
 * @throws {LabError} ERR_REDLINE_OPTION, ERR_REDLINE_PROFILE, ERR_REDLINE_SERVER
 */
export async function withRunningApp<Result>(
  pid: number,
  { variant, folder }: Chosen,
  { signal, phase }: { signal: AbortSignal; phase: (text: string) => void },
  work: (app: HeapApp) => Promise<Result>,
): Promise<Result> {
  requireNode(pid);
  const endpoint = await findEndpoint(variant.port!);
  if (endpoint === undefined) {
    throw new LabError('ERR_REDLINE_OPTION', `Nothing listens on port ${variant.port}.`);
  }
  phase('opening the inspector');
  const open = await openInspector(pid, { signal, except: variant.port! });
  // An interrupted run needs its session once more, to close the inspector.
  const uninterrupted = new AbortController().signal;
  const inspector = await Inspector.connect(new RunningProcess(pid), open.url, uninterrupted);
  try {
    const { version, heapUsed } = await evaluate<{ version: string; heapUsed: number }>(
      inspector,
      '({ version: process.version, heapUsed: process.memoryUsage().heapUsed })',
    );
    phase(
      `its heap has ${Math.round(heapUsed / 1e6)} MB: each collection stops it, and a snapshot for seconds`,
    );
    return await work({
      name: variant.name,
      pid,
      endpoint,
      inspector,
      node: version.slice(1),
      machine: readMachine('none'),
      folder,
    });
  } finally {
    await closeInspector(pid, inspector, open);
  }
}

/** Delay after which this session has ended, because closing waits for open ones. */
const closeAfterMs = 100;
const closesWithinMs = 3_000;
/** A timer runs without the names that the inspector adds, such as `require`. */
const closing = `{
  const { close } = process.getBuiltinModule?.('node:inspector') ?? require('inspector');
  setTimeout(close, ${closeAfterMs});
}`;

/** Ends the session and everything it enabled; the inspector then closes. */
async function closeInspector(
  pid: number,
  inspector: Inspector,
  { url, wasOpen }: OpenInspector,
): Promise<void> {
  if (wasOpen) {
    inspector[Symbol.dispose]();
    return;
  }
  await evaluate(inspector, closing).catch(() => {});
  inspector[Symbol.dispose]();
  const port = Number(new URL(url).port);
  const deadline = Date.now() + closesWithinMs;
  while (listeningPorts(pid).includes(port) && Date.now() < deadline) await sleep(20);
}

/** A process that redline has not started. */
class RunningProcess implements Inspected {
  readonly #pid: number;

  constructor(pid: number) {
    this.#pid = pid;
  }

  get hasEnded(): boolean {
    return !isRunning(this.#pid);
  }

  ended(timeoutMs: number): Promise<void> {
    return untilGone(this.#pid, timeoutMs);
  }

  async failure(what: string): Promise<LabError> {
    return new LabError('ERR_REDLINE_SERVER', `Process ${this.#pid} ${what}.`);
  }
}
