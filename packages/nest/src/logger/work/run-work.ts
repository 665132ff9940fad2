import { isObservable, Observable, type Subscriber } from 'rxjs';
import type { LoggerCore } from '../logger-core.ts';
import { WorkLog, type WorkFacts } from './work-log.ts';

/**
 * Runs `work` with a logger of its own for everything it calls, and writes its line when it is over: when its promise settles, or,
 * if it returns an observable, when that ends.
 */
export function runWork(core: LoggerCore, facts: WorkFacts, work: () => unknown): unknown {
  const log = new WorkLog(core, facts);
  const inside = <Result>(run: () => Result): Result =>
    core.storage === undefined ? run() : core.storage.run(log, run);
  const failed = (error: unknown): never => {
    log.end({ error });
    throw error;
  };
  const ended = (result: unknown): unknown => {
    if (isObservable(result)) return watched(result, log, inside);
    log.end();
    return result;
  };
  let result: unknown;
  try {
    result = inside(work);
  } catch (error) {
    return failed(error);
  }
  return result instanceof Promise ? result.then(ended, failed) : ended(result);
}

/* The work of an observable begins with its subscription, which happens elsewhere. */
function watched(
  source: Observable<unknown>,
  log: WorkLog,
  inside: <Result>(run: () => Result) => Result,
): Observable<unknown> {
  return new Observable((subscriber: Subscriber<unknown>) => {
    let isOver = false;
    const end = (failure?: { readonly error: unknown }): void => {
      if (isOver) return;
      isOver = true;
      log.end(failure);
    };
    const subscription = inside(() =>
      source.subscribe({
        next: (value) => subscriber.next(value),
        error(error: unknown) {
          end({ error });
          subscriber.error(error);
        },
        complete() {
          end();
          subscriber.complete();
        },
      }),
    );
    // An unsubscribed observable has not failed.
    return () => {
      subscription.unsubscribe();
      end();
    };
  });
}

/* The cores of the apps of this process, by the container that Nest has for each. */
const byContainer = new Map<object, LoggerCore>();

export function registerCore(container: object, core: LoggerCore): void {
  byContainer.set(container, core);
}

export function unregisterCore(container: object): void {
  byContainer.delete(container);
}

/** Returns the core of the app that `creator`, which makes the handlers of messages, belongs to. */
export function coreOf(creator: object): LoggerCore | undefined {
  const { guardsContextCreator } = creator as { guardsContextCreator?: { container?: object } };
  const container = guardsContextCreator?.container;
  return container === undefined ? newestCore() : byContainer.get(container);
}

/** Returns the core for a class that several apps of the process may share. */
export function newestCore(): LoggerCore | undefined {
  return [...byContainer.values()].at(-1);
}

/** Returns the id of the current request, message or job; undefined outside of all. */
export function currentId(): string | undefined {
  for (const core of byContainer.values()) {
    const id = (core.work as { id?: unknown } | undefined)?.id;
    if (typeof id === 'string') return id;
  }
  return undefined;
}
