import {
  argumentsOf,
  at,
  bare,
  enclosingFunction,
  isCall,
  methodOf,
  nameOf,
  type Node,
} from '../../syntax/node.ts';
import type { App } from '../../app/app.ts';
import type { Code } from '../../syntax/files.ts';
import type { SourceFile } from '../../syntax/source-file.ts';
import type { Rule } from '../rule.ts';

const maxCallerDepth = 4;

const stores =
  /^(ioredis(\.Redis|\.Cluster)?|iovalkey(\.Redis)?|redis\.(createClient|createCluster|RedisClientType|RedisClusterType)|keyv(\.Keyv)?)\(\)(\.(connect|on|once)\(\))*$/;

export const cachedJsonParsed: Rule = {
  id: 'cached-json-parsed',
  title: 'cached JSON parsed only to be serialised again',
  *look(app) {
    const { sources, modules, requests } = app;
    for (const file of sources) {
      for (const call of file.all('CallExpression')) {
        const method = methodOf(call);
        if (method?.name !== 'parse' || nameOf(method.object) !== 'JSON') continue;
        const reach = requests.reachOf(call);
        const [given] = argumentsOf(call);
        const store = given && readFrom(file, given);
        const origin = store && modules.originOf({ file, node: methodOf(store)!.object });
        if (reach === undefined || origin === undefined || !stores.test(origin)) continue;
        if (!isSent(app, { file, node: call }, maxCallerDepth)) continue;
        yield {
          file,
          start: call.start,
          end: call.end,
          sure: reach,
          why: 'What the store holds is JSON already: it is parsed here, and the response serialises it again.',
          how: 'Send the text as it is, with content-type application/json; JsonCache of @redline/response-cache does so.',
          seen: { calls: ['parse'] },
        };
      }
    }
  },
};

/** Finds the `get` that read a value: `await redis.get(key)`, also through a constant. */
function readFrom(file: SourceFile, given: Node): Node | undefined {
  const value = bare(given);
  if (value?.type === 'AwaitExpression') return readFrom(file, at(value, 'argument')!);
  if (isCall(value)) return /^(get|hget)$/.test(methodOf(value)?.name ?? '') ? value : undefined;
  if (value?.type !== 'Identifier') return undefined;
  const binding = file.scopes.find(nameOf(value)!, value);
  const init = binding?.kind === 'variable' ? at(binding.node, 'init') : undefined;
  return init &&
    isCall(bare(init)?.type === 'AwaitExpression' ? bare(at(bare(init), 'argument')) : bare(init))
    ? readFrom(file, init)
    : undefined;
}

/** True if a handler returns it, or passes it to a method that sends a response, without reading any of it. */
function isSent(app: App, { file, node }: Code, steps: number): boolean {
  const value = whole(node);
  const { parent } = value;
  if (parent?.type === 'ReturnStatement' || parent?.type === 'ArrowFunctionExpression') {
    return isSentByCallers(app, enclosingFunction(value), steps);
  }
  if (isCall(parent) && argumentsOf(parent).includes(value)) return sends(parent);
  if (parent?.type === 'AssignmentExpression') {
    // The response body in Koa.
    return nameOf(at(at(parent, 'left'), 'property')) === 'body';
  }
  if (parent?.type !== 'VariableDeclarator') return false;
  const name = nameOf(at(parent, 'id'));
  const fn = enclosingFunction(value);
  if (name === undefined || fn === undefined) return false;
  const uses = file
    .all('Identifier')
    .filter((each) => nameOf(each) === name && each.start > value.end && each.end <= fn.end)
    .filter(({ parent: user }) => user?.type !== 'IfStatement');
  return (
    uses.length > 0 &&
    uses.every(({ parent: user }) =>
      user?.type === 'ReturnStatement'
        ? isSentByCallers(app, fn, steps)
        : isCall(user) && sends(user),
    )
  );
}

/**
 * True if the result is sent: frameworks send the return value of a handler; that of another function is sent if all its callers
 * send it.
 */
function isSentByCallers(app: App, fn: Node | undefined, steps: number): boolean {
  if (fn === undefined || steps === 0) return false;
  if (app.requests.isEntry(fn)) return true;
  const callers = app.sources.flatMap((file) =>
    file
      .all('CallExpression')
      .filter((node) => app.modules.functionOf({ file, node: at(node, 'callee')! })?.node === fn)
      .map((node) => ({ file, node })),
  );
  return callers.length > 0 && callers.every((each) => isSent(app, each, steps - 1));
}

function sends(call: Node): boolean {
  return /^(json|send|jsonp)$/.test(methodOf(call)?.name ?? '');
}

/** Returns the outermost expression that can evaluate to a value: `await x`, `hit ? x : undefined`. */
function whole(node: Node): Node {
  let value = node;
  for (
    let above = value.parent;
    above !== undefined &&
    /^(AwaitExpression|LogicalExpression|ConditionalExpression|ChainExpression|TS(As|NonNull|Satisfies)\w*)$/.test(
      above.type,
    ) &&
    at(above, 'test') !== value;
    above = value.parent
  ) {
    value = above;
  }
  return value;
}
