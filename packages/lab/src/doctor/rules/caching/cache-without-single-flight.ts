import type { App } from '../../app/app.ts';
import {
  argumentsOf,
  at,
  enclosingFunction,
  isFunction,
  methodOf,
  nameOf,
  type Node,
  within,
  withinFunction,
} from '../../syntax/node.ts';
import type { Code } from '../../syntax/files.ts';
import type { Modules } from '../../syntax/modules.ts';
import type { SourceFile } from '../../syntax/source-file.ts';
import type { Rule, Sighting } from '../rule.ts';
import { globalGuard, guardOf } from '../caller/guards.ts';
import { globalInterceptor, interceptorOf, middlewareOf } from '../caller/before-handler.ts';
import { firstOf } from '../caller/names.ts';
import { routesAt } from '../caller/nest-routes.ts';
import { parameterOf, readOf } from '../caller/readers.ts';
import { jsonCacheEdits } from './json-cache-edits.ts';

const interceptor = /^@nestjs\/(cache-manager|common)\.CacheInterceptor$/;
const reading = /^(get|hget|fetch|getItem)$/i;
const writing = /^(set|setex|psetex|put|hset|setItem)$/i;
const how =
  'One miss for all callers: JsonCache of @redline/response-cache, or @JsonCache() of @redline/nest, which also sends a hit as the text it is.';
/** The code builds its own key, which a cache of whole responses would not know. */
const adviceForOwnKey =
  'One miss for all callers of a key: answer(key, compute) of JsonCache, of @redline/response-cache, or keep the promise of what is being computed until it is stored.';

export const cacheWithoutSingleFlight: Rule = {
  id: 'cache-without-single-flight',
  title: 'a cache that computes a miss once for each caller',
  *look(app) {
    yield* interceptors(app);
    yield* misses(app);
  },
};

function* interceptors(app: App): Generator<Sighting> {
  const places = app.sources.flatMap((file) =>
    [...interceptorsIn(file, app.modules)].map((node) => ({
      file,
      node,
      caller: callerDependence(app, { file, node }),
    })),
  );
  // One change covers all of them, and is shown at the first; omitted if one of them caches data of a single caller.
  const isForAll = places.every(({ caller }) => caller === undefined);
  const edits = isForAll ? jsonCacheEdits(app) : undefined;
  for (const [index, { file, node, caller }] of places.entries()) {
    yield {
      file,
      start: node.start,
      end: node.end,
      sure: 'certain',
      why: 'CacheInterceptor shares no miss: all that arrive before the first is stored compute it; and what it keeps as text is parsed and serialised for each hit.',
      how: caller === undefined ? how : adviceForOneCaller(caller),
      ...(index > 0 || edits === undefined ? {} : { edits }),
      seen: { packages: ['@nestjs/cache-manager', 'cache-manager', 'keyv', '@keyv'] },
    };
  }
}

function adviceForOneCaller(caller: string): string {
  return `Its response may be of one caller (${caller}), and CacheInterceptor keys it by its URL. @JsonCache() of @redline/nest keeps it for each caller where its identify names the caller, or for all with identify: 'public': decide which.`;
}

function* misses({ sources, requests }: App): Generator<Sighting> {
  for (const file of sources) {
    for (const fn of file.all(
      'FunctionDeclaration',
      'FunctionExpression',
      'ArrowFunctionExpression',
    )) {
      const body = at(fn, 'body');
      const reach = requests.reachOf(fn);
      if (body === undefined || reach === undefined) continue;
      const found = missIn(file, body, fn) ?? missInChain(file, body, fn);
      if (found === undefined) continue;
      yield {
        file,
        start: found.get.start,
        end: found.get.end,
        sure: 'likely',
        why: `Between this miss and ${file.textOf(at(found.set, 'callee')!)} below, every other request for the key computes the value as well.`,
        how: adviceForOwnKey,
        seen: { calls: ['get'] },
      };
    }
  }
}

/** Finds uses of CacheInterceptor, or of a class that extends it. */
function* interceptorsIn(file: SourceFile, modules: Modules): Generator<Node> {
  const isInterceptor = (node: Node | undefined): boolean =>
    node !== undefined && isCacheInterceptor({ file, node }, modules);
  for (const decorator of file.all('Decorator')) {
    if (argumentsOf(at(decorator, 'expression')).some(isInterceptor)) yield decorator;
  }
  for (const property of file.all('Property')) {
    if (nameOf(at(property, 'key')) === 'useClass' && isInterceptor(at(property, 'value')))
      yield property;
  }
  for (const call of file.all('CallExpression')) {
    if (methodOf(call)?.name !== 'useGlobalInterceptors') continue;
    const made = argumentsOf(call).find((each) => isInterceptor(at(each, 'callee') ?? each));
    if (made !== undefined) yield made;
  }
}

function isCacheInterceptor(named: Code, modules: Modules): boolean {
  if (interceptor.test(modules.originOf(named) ?? '')) return true;
  const own = modules.classOf(named);
  const parent = at(own?.node, 'superClass');
  return (
    own !== undefined &&
    parent !== undefined &&
    interceptor.test(modules.originOf({ file: own.file, node: parent }) ?? '')
  );
}

/** Finds `cache.get(key).then((hit) => … load().then((value) => cache.set(key, value)))`. */
function missInChain(file: SourceFile, body: Node, fn: Node): { get: Node; set: Node } | undefined {
  for (const get of withinFunction(body)) {
    const method = methodOf(get);
    if (method === undefined || !reading.test(method.name) || enclosingFunction(get) !== fn)
      continue;
    const then = get.parent?.type === 'MemberExpression' ? get.parent.parent : undefined;
    const [callback] = methodOf(then)?.name === 'then' ? argumentsOf(then) : [];
    if (callback === undefined || !isFunction(callback)) continue;
    const set = [...within(callback)].find((each) => {
      const other = methodOf(each);
      return (
        other !== undefined &&
        writing.test(other.name) &&
        file.textOf(other.object) === file.textOf(method.object) &&
        // The stored value is only available after another wait.
        (enclosingFunction(each) !== callback || awaitsBefore(callback, each))
      );
    });
    if (set !== undefined && sameKey(file, get, set) && !locks(file, body)) return { get, set };
  }
  return undefined;
}

function awaitsBefore(fn: Node, set: Node): boolean {
  return [...withinFunction(at(fn, 'body')!)].some(
    (each) => each.type === 'AwaitExpression' && each.end <= set.start,
  );
}

/**
 * Finds `await cache.get(key)` … `await something` … `await cache.set(key, …)` on one object, without keeping a promise in between.
 */
function missIn(file: SourceFile, body: Node, fn: Node): { get: Node; set: Node } | undefined {
  const calls: { call: Node; object: string; name: string }[] = [];
  for (const each of withinFunction(body)) {
    const method = methodOf(each);
    if (method === undefined || enclosingFunction(each) !== fn) continue;
    calls.push({ call: each, object: file.textOf(method.object), name: method.name });
  }
  for (const { call: get, object, name } of calls) {
    if (!reading.test(name) || get.parent?.type !== 'AwaitExpression') continue;
    const set = calls.find(
      (each) => each.object === object && writing.test(each.name) && each.call.start > get.end,
    )?.call;
    if (set === undefined || !sameKey(file, get, set)) continue;
    // The await in between is the work that the cache is meant to save.
    const awaited = [...withinFunction(body)].some(
      (each) =>
        each.type === 'AwaitExpression' &&
        each.start > get.end &&
        each.end <= set.start &&
        !contains(each, set),
    );
    if (awaited && !locks(file, body)) return { get, set };
  }
  return undefined;
}

function sameKey(file: SourceFile, get: Node, set: Node): boolean {
  const [one] = argumentsOf(get);
  const [other] = argumentsOf(set);
  return one !== undefined && other !== undefined && file.textOf(one) === file.textOf(other);
}

/** True for code that already locks, or keeps what is in flight. */
function locks(file: SourceFile, body: Node): boolean {
  return (
    /\b(lock|mutex|semaphore|in-?flight|pending|single-?flight|dedupe|coalesce)/i.test(
      file.textOf(body),
    ) ||
    /'NX'|"NX"|\bnx: true/i.test(file.textOf(body)) ||
    keepsPromise(file, body)
  );
}

/** True if it reads a Map of its file and stores something in it: the running computation. */
function keepsPromise(file: SourceFile, body: Node): boolean {
  const calls = [...withinFunction(body)].flatMap((each) => {
    const method = methodOf(each);
    return method?.object.type === 'Identifier' && isMap(file, method.object)
      ? [`${method.name} ${nameOf(method.object)}`]
      : [];
  });
  return calls.some(
    (each) => /^(get|has) /.test(each) && calls.includes(each.replace(/^\w+/, 'set')),
  );
}

function isMap(file: SourceFile, name: Node): boolean {
  const init = at(file.scopes.find(nameOf(name)!, name)?.node, 'init');
  return init?.type === 'NewExpression' && nameOf(at(init, 'callee')) === 'Map';
}

function contains(outer: Node, inner: Node): boolean {
  return outer.start <= inner.start && inner.end <= outer.end;
}

/**
 * Explains why a cached route of Nest may send data of a single caller: a guard restricts access, code in front of it depends on
 * the caller, or it is computed from the request. Undefined if the code shows none of these.
 * @param place The decorator of a route or of a controller, or any other node for all routes of the app.
 */
function callerDependence(app: App, place: Code): string | undefined {
  return (
    globalGuard(app) ??
    middlewareOf(app) ??
    globalInterceptor(app) ??
    firstOf(
      routesAt(app, place),
      (route) =>
        guardOf(app, route) ??
        interceptorOf(app, route) ??
        parameterOf(route) ??
        readOf(app, route),
    )
  );
}
