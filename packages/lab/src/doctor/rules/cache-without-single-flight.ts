import {
  argumentsOf,
  at,
  enclosingFunction,
  methodOf,
  type Node,
  withinFunction,
} from '../syntax/node.ts';
import type { SourceFile } from '../syntax/source-file.ts';
import type { Rule } from './rule.ts';

const how =
  'One miss for all callers: JsonCache of @redline/response-cache, or @JsonCache() of @redline/nest, which also sends a hit as the text it is.';

export const cacheWithoutSingleFlight: Rule = {
  id: 'cache-without-single-flight',
  title: 'a cache that computes a miss once for each caller',
  *look({ sources, modules, requests }) {
    for (const file of sources) {
      for (const decorator of file.all('Decorator')) {
        const call = at(decorator, 'expression');
        const given = argumentsOf(call).find((each) =>
          /^@nestjs\/(cache-manager|common)\.CacheInterceptor$/.test(
            modules.originOf({ file, node: each }) ?? '',
          ),
        );
        if (given === undefined) continue;
        yield {
          file,
          start: decorator.start,
          end: decorator.end,
          sure: 'certain',
          why: 'CacheInterceptor shares no miss: all that arrive before the first is stored compute it; and what it keeps as text is parsed and serialised for each hit.',
          how,
          seen: { packages: ['@nestjs/cache-manager', 'cache-manager', 'keyv', '@keyv'] },
        };
      }
      for (const fn of file.all(
        'FunctionDeclaration',
        'FunctionExpression',
        'ArrowFunctionExpression',
      )) {
        const body = at(fn, 'body');
        const reach = requests.reachOf(fn);
        if (body === undefined || reach === undefined || fn['async'] !== true) continue;
        const found = missIn(file, body, fn);
        if (found === undefined) continue;
        yield {
          file,
          start: found.get.start,
          end: found.get.end,
          sure: 'likely',
          why: `Between this miss and ${file.textOf(at(found.set, 'callee')!)} below, every other request for the key computes the value as well.`,
          how,
          seen: { calls: ['get'] },
        };
      }
    }
  },
};

/** `await cache.get(key)` … `await something` … `await cache.set(key, …)`, of one object, and no promise kept meanwhile. */
function missIn(file: SourceFile, body: Node, fn: Node): { get: Node; set: Node } | undefined {
  const calls: { call: Node; object: string; name: string }[] = [];
  for (const each of withinFunction(body)) {
    const method = methodOf(each);
    if (method === undefined || enclosingFunction(each) !== fn) continue;
    calls.push({ call: each, object: file.textOf(method.object), name: method.name });
  }
  for (const { call: get, object, name } of calls) {
    if (!/^(get|hget|fetch)$/.test(name) || get.parent?.type !== 'AwaitExpression') continue;
    const set = calls.find(
      (each) =>
        each.object === object &&
        /^(set|setex|psetex|put|hset)$/.test(each.name) &&
        each.call.start > get.end,
    )?.call;
    if (set === undefined || !sameKey(file, get, set)) continue;
    // Something is waited for in between: what the cache is there for.
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

/** Somebody who locks, or keeps what is in flight, has thought of it. */
function locks(file: SourceFile, body: Node): boolean {
  return (
    /\b(lock|mutex|semaphore|in-?flight|pending|single-?flight|dedupe|coalesce)/i.test(
      file.textOf(body),
    ) || /'NX'|"NX"|\bnx: true/i.test(file.textOf(body))
  );
}

function contains(outer: Node, inner: Node): boolean {
  return outer.start <= inner.start && inner.end <= outer.end;
}
