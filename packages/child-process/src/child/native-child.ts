import { ChildProcess } from 'node:child_process';
import { channel } from 'node:diagnostics_channel';
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { inspect } from 'node:util';
import type { ChildResourceUsage } from '../options.ts';
import { ChildHandle, type HandledChild } from './child-handle.ts';

const created = channel('child_process');

/** Creates a child whose prototype is `ChildProcess.prototype` itself, as in Node: code compares it, and `constructor`. */
export function createChild(file: string, args: string[]): NativeChild {
  return Reflect.construct(NativeChild, [file, args], ChildProcess) as NativeChild;
}

/**
 * A ChildProcess without ChildProcess's constructor, which would create an unused libuv handle. Node's methods are inherited
 * and work on `_handle`; expensive properties are created on first access. No object has this class's own prototype:
 * {@link makeAccessible} copies the accessors.
 */
export class NativeChild extends EventEmitter implements HandledChild {
  _closesNeeded = 1;
  _closesGot = 0;
  connected = false;
  /** Set by Node for a child with IPC. */
  declare channel?: unknown;
  signalCode: NodeJS.Signals | null = null;
  exitCode: number | null = null;
  killed = false;
  /** Only set with the option. */
  declare resourceUsage?: ChildResourceUsage | undefined;
  spawnfile: string;
  _handle: ChildHandle | null;
  spawnargs: string[];
  readonly #handle: ChildHandle;
  #stdio: (Socket | null)[] | undefined;

  constructor(file: string, args: string[]) {
    super();
    this.spawnfile = file;
    this.spawnargs = args;
    this.#handle = new ChildHandle(this);
    this._handle = this.#handle;
    makeAccessible(this);
    if (created.hasSubscribers) this.#publish();
  }

  static handleOf(child: object): ChildHandle | undefined {
    return #handle in child ? child.#handle : undefined;
  }

  /** Publishes without the names, which Node's child lacks at this point. */
  #publish(): void {
    const { spawnfile, spawnargs } = this;
    Object.assign(this, { spawnfile: null, spawnargs: undefined });
    created.publish({ process: this });
    Object.assign(this, { spawnfile, spawnargs });
  }

  /** Blocks until the program runs: the pid is only final once exec has succeeded. `undefined` if it failed. */
  get pid(): number | undefined {
    return this.#handle.waitForPid();
  }

  // Node's own code assigns it for a child with IPC; the engine's value is more accurate. Returns the handle of an engine's
  // child, including after its exit.
  set pid(_: unknown) {}

  get stdin(): Socket | null | undefined {
    return this.#handle.pipes?.get(0);
  }

  set stdin(value: unknown) {
    own(this, 'stdin', value);
  }

  get stdout(): Socket | null | undefined {
    return this.#handle.pipes?.get(1);
  }

  set stdout(value: unknown) {
    own(this, 'stdout', value);
  }

  get stderr(): Socket | null | undefined {
    return this.#handle.pipes?.get(2);
  }

  set stderr(value: unknown) {
    own(this, 'stderr', value);
  }

  get stdio(): (Socket | null)[] | undefined {
    return (this.#stdio ??= this.#handle.pipes?.all());
  }

  set stdio(value: unknown) {
    own(this, 'stdio', value);
  }
}

/** The handle of a child of the engine, also after its exit. */
export function handleOf(child: object): ChildHandle | undefined {
  return NativeChild.handleOf(child);
}

/** Defines the accessors as own properties, like Node's values: for `Object.keys` and `{ ...child }`. */
export function makeAccessible(child: NativeChild): void {
  Object.defineProperties(child, accessors);
}

const accessors: PropertyDescriptorMap = {
  // Prints like Node's child, whose streams and process id are plain values.
  [inspect.custom]: {
    value(this: NativeChild): object {
      return Object.assign(Object.create(ChildProcess.prototype), this);
    },
    writable: true,
    enumerable: false,
    configurable: true,
  },
};
for (const name of ['pid', 'stdin', 'stdout', 'stderr', 'stdio']) {
  const descriptor = Object.getOwnPropertyDescriptor(NativeChild.prototype, name);
  accessors[name] = { ...descriptor, enumerable: true, configurable: true };
}

Object.defineProperty(NativeChild, 'name', { value: 'ChildProcess' });

function own(child: NativeChild, name: string, value: unknown): void {
  Object.defineProperty(child, name, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}
