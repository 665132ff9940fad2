import { constants } from 'node:os';
import { getSystemErrorName } from 'node:util';
import { loadAddon, type Addon } from '../../native.cjs';
import { nodeChildProcess, unavailableReason } from '../node/node-child-process.ts';
import { findPipe, type PipeConstructor } from './pipe.ts';

/** The implementation in use. */
export type Engine =
  | { readonly name: 'native' }
  | {
      readonly name: 'node';
      /** Reason why the addon is not used: one clause. */ readonly reason: string;
    };

export interface Native {
  readonly addon: Addon;
  readonly Pipe: PipeConstructor;
}

const { EAGAIN, EMFILE, ENFILE, ENOMEM } = constants.errno;
const found = find();

/** The native engine; undefined if Node's own module is used. */
export const native: Native | undefined = typeof found === 'string' ? undefined : found;

/**
 * Reports which engine serves: this package's, or `node:child_process` itself and why.
 *
 * @example
 * engine(); // { name: 'node', reason: 'the native engine is for Linux' }
 */
export function engine(): Engine {
  return typeof found === 'string' ? { name: 'node', reason: found } : { name: 'native' };
}

function find(): Native | string {
  return unavailableReason() ?? load();
}

function load(): Native | string {
  let addon: Addon;
  try {
    addon = loadAddon();
  } catch (error) {
    return (error as Error).message;
  }
  const error = addon.supported();
  if (error !== 0) {
    const isShort = error === EAGAIN || error === EMFILE || error === ENFILE || error === ENOMEM;
    const clause = isShort ? 'the engine cannot start' : 'the kernel lacks a required system call';
    return `${clause}: ${getSystemErrorName(-error)}`;
  }
  const Pipe = findPipe(nodeChildProcess.ChildProcess);
  return Pipe === undefined
    ? 'this Node does not have its pipes where they are expected'
    : { addon, Pipe };
}
