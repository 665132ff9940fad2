import { ChildProcess } from 'node:child_process';

type Start = (...args: unknown[]) => unknown;

const validated = Symbol('the arguments are good');

/** Has one of Node's own functions check its arguments, warn about them or throw, without starting a child. */
export function validateWithNode(call: () => void): void {
  const prototype = ChildProcess.prototype as unknown as { spawn: Start };
  const { spawn } = prototype;
  prototype.spawn = () => {
    throw validated;
  };
  try {
    call();
  } catch (error) {
    if (error !== validated) throw error;
  } finally {
    prototype.spawn = spawn;
  }
}
