import type { CallFacts, CallRecorder, OpenCall } from '../recorder.ts';
import { sqlFingerprint } from '../sql-fingerprint.ts';
import { isCallback, type Method, type Wrappable, wrapMethod } from './driver.ts';

interface Emitter {
  once?(event: string, listener: () => void): unknown;
}

/** Wraps `query` and `execute` of the connections and pools of mysql2, and `query` of mysql. Promises of mysql2 go through them. */
export function wrapMysql(recorder: CallRecorder): (owner: Wrappable | undefined) => void {
  return (owner) => {
    const prototype = owner?.prototype;
    for (const name of ['query', 'execute']) {
      // Some classes inherit a method that is wrapped already.
      if (prototype === undefined || !Object.hasOwn(prototype, name)) continue;
      wrapMethod(
        prototype,
        name,
        (method) =>
          function (this: unknown, ...args) {
            if (!recorder.isOn) return method.apply(this, args);
            return recorder.record(
              () => factsOf(args),
              (open) =>
                open === undefined ? method.apply(this, args) : call(method, this, args, open),
            );
          },
      );
    }
  };
}

function call(method: Method, owner: unknown, args: unknown[], open: OpenCall): unknown {
  const at = args.findLastIndex(isCallback);
  if (at > 0) return method.apply(owner, args.with(at, open.callback(args[at] as Method)));
  const command = method.apply(owner, args);
  // Emitted after an error, too.
  (command as Emitter | undefined)?.once?.('end', () => open.end());
  return command;
}

function factsOf([query, given]: unknown[]): CallFacts | undefined {
  const { sql, values } =
    typeof query === 'string'
      ? { sql: query, values: undefined }
      : ((query ?? {}) as { sql?: unknown; values?: unknown });
  if (typeof sql !== 'string') return undefined;
  return {
    system: 'MySQL',
    text: sqlFingerprint(sql, 'MySQL'),
    written: sql,
    values: given === undefined || typeof given === 'function' ? values : given,
  };
}
