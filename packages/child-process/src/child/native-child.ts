import { ChildProcess } from 'node:child_process';
import { channel } from 'node:diagnostics_channel';
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { inspect } from 'node:util';
import type { ChildResourceUsage } from '../options.ts';
import { ChildHandle, type HandledChild } from './child-handle.ts';

const created = channel('child_process');

/** A child whose prototype is `ChildProcess.prototype` itself, as with Node: code compares it, and `constructor`. */
export function createChild(file: string, args: string[]): NativeChild {
  return Reflect.construct(NativeChild, [file, args], ChildProcess) as NativeChild;
}

/**
 * A ChildProcess that never ran ChildProcess's constructor, which would create an unused libuv handle. Node's
 * methods are inherited and work on `_handle`; what costs something is created on first access. Its own prototype is that of
 * no object: {@link makeAccessible} copies the accessors.
 */
export class NativeChild extends EventEmitter implements HandledChild {
  _closesNeeded = 1;
  _closesGot = 0;
  connected = false;
  /** Node's, for a child with IPC. */
  declare channel?: unknown;
  signalCode: NodeJS.Signals | null = null;
  exitCode: number | null = null;
  killed = false;
  /** With the option alone. */
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

  /** Node's has no name yet when it is made. */
  #publish(): void {
    const { spawnfile, spawnargs } = this;
    Object.assign(this, { spawnfile: null, spawnargs: undefined });
    created.publish({ process: this });
    Object.assign(this, { spawnfile, spawnargs });
  }

  /** Blocks until the program runs: exec has to be over for the answer to be true. `undefined` when it failed. */
  get pid(): number | undefined {
    return this.#handle.waitForPid();
  }

  // Node's own code assigns these for a child with IPC; what it knows is less than what is here.
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

/** Makes the accessors properties of its own, as the values are in Node: for `Object.keys` and `{ ...child }`. */
export function makeAccessible(child: NativeChild): void {
  Object.defineProperties(child, accessors);
}

const accessors: PropertyDescriptorMap = {
  // As Node's child looks, whose streams and process id are plain values.
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
