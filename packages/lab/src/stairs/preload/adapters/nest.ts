import type { StairsState } from '../state.ts';

type Method = (this: unknown, ...args: unknown[]) => unknown;
type Class = { prototype: object };

/** Adapters for classes of @nestjs/core, called at the end of the file that declares the class. */
export interface NestAdapters {
  guards(creator: Class): void;
  interceptors(creator: Class): void;
  pipes(creator: Class): void;
  responses(controller: Class): void;
  middleware(module: Class): void;
  exceptions(handler: Class): void;
  /** Wraps the function that makes the guards of @nestjs/passport. */
  passport(make: MakeGuard): MakeGuard;
}

type MakeGuard = (type?: string | string[]) => object;

/** Call that made a class without a name of its own. */
const madeBy = new WeakMap<object, string>();

export function nestAdapters(state: StairsState): NestAdapters {
  return {
    guards: (creator) => wrapCreated(creator, state, 'guard', 'canActivate'),
    interceptors: (creator) => wrapCreated(creator, state, 'interceptor', 'intercept'),
    pipes: (creator) => wrapCreated(creator, state, 'pipe', 'transform'),
    responses({ prototype }) {
      const methods = prototype as Record<string, Method>;
      methods['apply'] = state.stage('response', 'serialise and reply', methods['apply']!, 'throw');
    },
    passport: (make) => (type) => {
      const guard = make(type);
      const types = [type ?? []].flat().map((each) => `'${each}'`);
      madeBy.set(guard, `AuthGuard(${types.join(', ')})`);
      return guard;
    },
    /** Ignores ended requests in a method that is called for every failed request, and so for every ended one. */
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

/** Wraps the method that creates the guards, interceptors and pipes of a route, whatever level they were bound at. */
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

/** Returns an object that shares the state of the instance, with one method replaced. */
function withStage(
  instance: object,
  state: StairsState,
  kind: 'guard' | 'interceptor' | 'pipe' | 'middleware',
  method: string,
): object {
  const own = (instance as Record<string, unknown>)[method];
  if (typeof own !== 'function') return instance;
  const name = nameOf(instance.constructor, kind);
  const bound: Method = (...args) => own.apply(instance, args);
  // Functional guards and the like are objects made by Nest; they keep the name of the method.
  Object.defineProperty(bound, 'length', { value: own.length });
  const staged = state.stage(kind, name, bound, kind === 'middleware' ? 'return' : 'throw');
  return Object.create(instance, { [method]: { value: staged, configurable: true } }) as object;
}

/**
 * Names a class. Nest gives hashes to the classes it makes: those of functions, and mixins, whose text still shows their original
 * name.
 */
function nameOf(made: { name: string } | undefined, kind: string): string {
  if (made === undefined || made.name === '') return kind;
  const maker = madeBy.get(made);
  if (maker !== undefined) return maker;
  if (!/^[\da-f]{16,}$/.test(made.name)) return made.name;
  const written = /^class (\w+)/.exec(String(made))?.[1];
  return written === undefined || /^[\da-f]{16,}$/.test(written) ? 'function' : written;
}
