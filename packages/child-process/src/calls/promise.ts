import type { ChildProcess } from 'node:child_process';

type Callback = (error: Error | null, stdout: string | Buffer, stderr: string | Buffer) => void;

/** Returns the `util.promisify` version of `exec` or `execFile`: a promise of both outputs that carries the child. */
export function withPromise(
  original: (...args: never[]) => ChildProcess,
): (...args: unknown[]) => Promise<{ stdout: string | Buffer; stderr: string | Buffer }> {
  const promised = (...args: unknown[]) => {
    const { promise, resolve, reject } = Promise.withResolvers<{
      stdout: string | Buffer;
      stderr: string | Buffer;
    }>();
    const callback: Callback = (error, stdout, stderr) => {
      const { resourceUsage } = (promise as { child?: ChildProcess }).child ?? {};
      if (error === null)
        resolve({ stdout, stderr, ...(resourceUsage !== undefined && { resourceUsage }) });
      else reject(Object.assign(error, { stdout, stderr }));
    };
    return Object.assign(promise, {
      child: Reflect.apply(original, undefined, [...args, callback]),
    });
  };
  Object.defineProperty(promised, 'name', { value: original.name });
  return promised;
}
