import type { App } from '../../app/app.ts';
import {
  argumentsOf,
  at,
  bare,
  isFunction,
  methodOf,
  type Node,
  withinFunction,
} from '../../syntax/node.ts';
import type { SourceFile } from '../../syntax/source-file.ts';
import { isOfItem, type PerItem, perItemIn } from './per-item.ts';
import { type Wait, waitsOf } from './waits-in.ts';
import { memoisationOf } from '../memoisation.ts';
import type { Rule, Sighting } from '../rule.ts';

const adviceByStore: Readonly<Record<'database' | 'redis', string>> = {
  database:
    'Query once for all items (WHERE id = ANY($1), "in", $in, include or a join), and match the rows to the items with a Map.',
  redis: 'Send one command for all items: MGET, or a pipeline.',
};

export const nPlusOne: Rule = {
  id: 'n-plus-one',
  title: 'a query for each item of a list',
  *look(app) {
    for (const file of app.sources) {
      const seen = new Set<Node>();
      for (const item of perItemIn(file)) {
        if (app.requests.reachOf(item.body) === undefined) continue;
        for (const call of awaitedIn(item)) {
          const found = seen.has(call) ? undefined : sightingOf(app, file, call, item);
          if (found === undefined) continue;
          seen.add(call);
          yield found;
        }
      }
    }
  },
};

function sightingOf(app: App, file: SourceFile, call: Node, item: PerItem): Sighting | undefined {
  if (!argumentsOfChain(call).some((each) => isOfItem(file, each, item))) return undefined;
  const waits = waitsOf(app, { file, node: call });
  const wait = waits.find(({ reads }) => reads) ?? waits[0];
  if (wait === undefined || wait.kind === 'http' || memoisationOf(file, call) !== undefined)
    return undefined;
  const reach = app.requests.reachOf(item.body)!;
  const what = wait.kind === 'redis' ? 'command' : 'query';
  return {
    file,
    start: call.start,
    end: call.end,
    sure: !wait.reads ? 'hint' : wait.isInHelper ? 'likely' : reach,
    why: `One ${what} for each item${inHelper(wait)}, ${item.isLoop ? 'and each waits for the one before it' : 'all of them at the same time'}: a list of a hundred items takes a hundred.`,
    how: wait.reads
      ? adviceByStore[wait.kind]
      : 'Write all items in one statement or one pipeline.',
    seen: { calls: [wait.name] },
  };
}

function inHelper({ isInHelper, name }: Wait): string {
  return isInHelper ? ` (${name}, in the function that is called)` : '';
}

/** Finds awaited calls, and calls whose promise is returned by the function of a `map`. */
function* awaitedIn({ node, body }: PerItem): Generator<Node> {
  for (const each of withinFunction(body)) {
    if (each.type === 'AwaitExpression') yield* callIn(at(each, 'argument'));
    if (each.type === 'ReturnStatement' && isFunction(node)) yield* callIn(at(each, 'argument'));
  }
  if (body.type !== 'BlockStatement') yield* callIn(body);
}

function* callIn(node: Node | undefined): Generator<Node> {
  const call = bare(node);
  if (call?.type === 'AwaitExpression') yield* callIn(at(call, 'argument'));
  else if (call?.type === 'CallExpression') yield call;
}

/** Returns the arguments of all calls in a chain: for `User.find(a).sort(b)`, both. */
function argumentsOfChain(call: Node): Node[] {
  const object = methodOf(call)?.object;
  const before = object?.type === 'CallExpression' ? argumentsOfChain(object) : [];
  return [...before, ...argumentsOf(call)];
}
