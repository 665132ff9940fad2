import type { StairsState } from '../state.ts';

type Method = (this: unknown, ...args: unknown[]) => unknown;
type Class = { prototype: object };

/** Each gets a class of @nestjs/core, from the end of the file that declares it. */
export interface NestAdapters {
  guards(creator: Class): void;
  interceptors(creator: Class): void;
  pipes(creator: Class): void;
  responses(controller: Class): void;
  middleware(module: Class): void;
  exceptions(handler: Class): void;
}

export function nestAdapters(state: StairsState): NestAdapters {
  return {
    guards: (creator) => wrapCreated(creator, state, 'guard', 'canActivate'),
    interceptors: (creator) => wrapCreated(creator, state, 'interceptor', 'intercept'),
    pipes: (creator) => wrapCreated(creator, state, 'pipe', 'transform'),
    responses({ prototype }) {
      const methods = prototype as Record<string, Method>;
      methods['apply'] = state.stage('response', 'serialise and reply', methods['apply']!, 'throw');
    },
    /** Every request that failed comes here, and so does every one that was ended. */
    exceptions({ prototype }) {
      const methods = prototype as Record<string, Method>;
      const next = methods['next']!;
      methods['next'] = function (error, ...rest) {
        return state.isOver(error) ? state.leave() : next.call(this, error, ...rest);
      };
    },
    middleware({ prototype }) {
      const methods = prototype as Record<string, Method>;
      const createProxy = methods['createProxy']!;
      methods['createProxy'] = function (instance, ...rest) {
        return createProxy.call(
          this,
          withStage(instance as object, state, 'middleware', 'use'),
          ...rest,
        );
      };
    },
  };
}

/** Guards, interceptors and pipes of a route come out of one method, whatever level they were bound at. */
function wrapCreated(
  { prototype }: Class,
  state: StairsState,
  kind: 'guard' | 'interceptor' | 'pipe',
  method: string,
): void {
  const methods = prototype as Record<string, Method>;
  const create = methods['createConcreteContext']!;
  methods['createConcreteContext'] = function (...args) {
    const created = create.apply(this, args) as object[];
    return created.map((instance) => withStage(instance, state, kind, method));
  };
}

/** The same object to all who ask for its state, with one method replaced. */
function withStage(
  instance: object,
  state: StairsState,
  kind: 'guard' | 'interceptor' | 'pipe' | 'middleware',
  method: string,
): object {
  const own = (instance as Record<string, unknown>)[method];
  if (typeof own !== 'function') return instance;
  const given = (instance as { constructor?: { name?: string } }).constructor?.name ?? kind;
  // Nest makes a class of a middleware that is a function, and names it by a hash.
  const name = /^[\da-f]{16,}$/.test(given) ? 'function' : given;
  const bound: Method = (...args) => own.apply(instance, args);
  // Functional guards and the like are objects made by Nest; theirs is the method's own name.
  Object.defineProperty(bound, 'length', { value: own.length });
  const staged = state.stage(kind, name, bound, kind === 'middleware' ? 'return' : 'throw');
  return Object.create(instance, { [method]: { value: staged, configurable: true } }) as object;
}
