import { availableParallelism } from 'node:os';
import { PoolError } from './errors.ts';
import { findWorkerFile, findRuntime, isDeno, ownEngine, type Runtime } from './runtime.ts';

/** The transport of bytes from a worker to the pool: `process.send`, or one Unix socket per worker. */
export type Transport = 'send' | 'socket';

export interface PoolOptions {
  /** Number of worker processes. @default the number of cores */
  size?: number;
  /** The runtime of the workers, or a path to Node or Bun. @default the runtime of this process */
  runtime?: 'node' | 'bun' | (string & {});
  /** @default 'send'; 'socket' on Deno, which supports no other */
  transport?: Transport;
  /** @default 'least-busy' */
  balance?: Balance;
}

export interface ResolvedPoolOptions {
  size: number;
  runtime: Runtime;
  transport: Transport;
  balance: Balance;
  workerFile: string;
}

const transports: readonly Transport[] = ['send', 'socket'];
const known: Readonly<Record<keyof PoolOptions, true>> = {
  size: true,
  runtime: true,
  transport: true,
  balance: true,
};

/** @throws {PoolError} ERR_REDLINE_POOL_OPTION, ERR_REDLINE_POOL_RUNTIME, ERR_REDLINE_POOL_WORKER_FILE */
export function resolvePoolOptions(options: PoolOptions): ResolvedPoolOptions {
  if (typeof options !== 'object' || options === null) {
    throw optionError(`The options of createPool must be an object; got ${String(options)}.`);
  }
  const unknown = Object.keys(options).find((key) => !Object.hasOwn(known, key));
  if (unknown !== undefined) {
    throw optionError(
      `Unknown option "${unknown}" of createPool. Known options: ${Object.keys(known).join(', ')}.`,
    );
  }
  const { size, runtime, transport, balance } = options;
  if (size !== undefined && (!Number.isInteger(size) || size < 1)) {
    throw wrong('size', size, 'a whole number above 0');
  }
  if (runtime !== undefined && (typeof runtime !== 'string' || runtime === '')) {
    throw wrong('runtime', runtime, "'node', 'bun' or a path");
  }
  if (isDeno && transport === 'send') {
    throw wrong('transport', transport, "'socket': Deno has no process.send to other runtimes");
  }
  return {
    size: size ?? availableParallelism(),
    transport: oneOf('transport', transport, transports) ?? (isDeno ? 'socket' : 'send'),
    balance: oneOf('balance', balance, balances) ?? 'least-busy',
    runtime: findRuntime(runtime ?? ownEngine),
    workerFile: findWorkerFile(),
  };
}

function oneOf<T extends string>(
  key: string,
  value: T | undefined,
  allowed: readonly T[],
): T | undefined {
  if (value === undefined || allowed.includes(value)) return value;
  throw wrong(key, value, allowed.map((each) => `'${each}'`).join(' or '));
}

function wrong(key: string, value: unknown, expected: string): PoolError {
  const shown = JSON.stringify(value) ?? String(value);
  return optionError(`The option ${key} must be ${expected}; got ${shown}.`);
}

function optionError(message: string): PoolError {
  return new PoolError('ERR_REDLINE_POOL_OPTION', message);
}

/** Rule that selects the worker of the next child. */
export type Balance = 'random' | 'round-robin' | 'least-busy';

const balances: readonly Balance[] = ['random', 'round-robin', 'least-busy'];

export type Pick = <Worker extends { readonly busy: number }>(
  workers: readonly Worker[],
) => Worker | undefined;

export function pickBy(balance: Balance): Pick {
  let turn = -1;
  switch (balance) {
    case 'random':
      return (workers) => workers[Math.floor(Math.random() * workers.length)];
    case 'round-robin':
      return (workers) => workers[(turn = (turn + 1) % Math.max(1, workers.length))];
    case 'least-busy':
      return (workers) => {
        // Equally busy workers take turns: otherwise the first one would get all the work of a quiet server.
        turn = (turn + 1) % Math.max(1, workers.length);
        let least = workers[turn];
        for (const worker of workers) if (worker.busy < least!.busy) least = worker;
        return least;
      };
  }
}
