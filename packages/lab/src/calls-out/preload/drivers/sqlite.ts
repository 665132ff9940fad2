import type { CallRecorder } from '../recorder.ts';
import { sqlFingerprint } from '../sql-fingerprint.ts';
import { wrapMethod } from './driver.ts';

interface Statement {
  source?: unknown;
}

/** Wraps `prepare` of better-sqlite3, and the methods of the statements that it returns, whose class is in its addon. */
export function wrapSqlite(recorder: CallRecorder): (methods: object | undefined) => void {
  const known = new WeakSet<object>();
  return (methods) =>
    wrapMethod(
      methods,
      'prepare',
      (prepare) =>
        function (this: unknown, ...args) {
          const statement = prepare.apply(this, args) as object;
          const prototype = Object.getPrototypeOf(statement) as object;
          if (!known.has(prototype)) {
            known.add(prototype);
            for (const name of ['run', 'get', 'all']) wrapStatement(recorder, prototype, name);
          }
          return statement;
        },
    );
}

function wrapStatement(recorder: CallRecorder, prototype: object, name: string): void {
  wrapMethod(
    prototype,
    name,
    (method) =>
      function (this: unknown, ...args) {
        if (!recorder.isOn) return method.apply(this, args);
        const open = recorder.begin(() => {
          const { source } = this as Statement;
          return typeof source === 'string'
            ? {
                system: 'SQLite',
                text: sqlFingerprint(source, 'SQLite'),
                written: source,
                values: args,
              }
            : undefined;
        });
        try {
          const result = method.apply(this, args);
          open?.end();
          return result;
        } catch (error) {
          open?.end(error);
          throw error;
        }
      },
  );
}
