import {
  argumentsOf,
  at,
  bare,
  enclosingFunction,
  isCall,
  methodOf,
  nameOf,
  type Node,
} from '../syntax/node.ts';
import type { SourceFile } from '../syntax/source-file.ts';
import type { Rule } from './rule.ts';

const stores =
  /^(ioredis(\.Redis|\.Cluster)?|iovalkey(\.Redis)?|redis\.createClient|redis\.createCluster|keyv(\.Keyv)?)\(\)$/;

export const cachedJsonParsed: Rule = {
  id: 'cached-json-parsed',
  title: 'cached JSON parsed only to be serialised again',
  *look({ sources, modules, requests }) {
    for (const file of sources) {
      for (const call of file.all('CallExpression')) {
        const method = methodOf(call);
        if (method?.name !== 'parse' || nameOf(method.object) !== 'JSON') continue;
        const reach = requests.reachOf(call);
        const [given] = argumentsOf(call);
        const store = given && readFrom(file, given);
        const origin = store && modules.originOf({ file, node: methodOf(store)!.object });
        if (reach === undefined || origin === undefined || !stores.test(origin)) continue;
        if (!isSent(file, call)) continue;
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

/** The `get` a value was read with: `await redis.get(key)`, also through a constant. */
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

/** Returned or handed to what sends a response, with nothing of it read. */
function isSent(file: SourceFile, call: Node): boolean {
  const { parent } = call;
  if (parent?.type === 'ReturnStatement' || parent?.type === 'ArrowFunctionExpression') return true;
  if (isCall(parent) && argumentsOf(parent).includes(call)) {
    return /^(json|send|jsonp)$/.test(methodOf(parent)?.name ?? '');
  }
  if (parent?.type !== 'VariableDeclarator') return false;
  const name = nameOf(at(parent, 'id'));
  const fn = enclosingFunction(call);
  if (name === undefined || fn === undefined) return false;
  const uses = file
    .all('Identifier')
    .filter((each) => nameOf(each) === name && each.start > call.end && each.end <= fn.end);
  return (
    uses.length > 0 &&
    uses.every(
      ({ parent: user }) =>
        user?.type === 'ReturnStatement' ||
        (isCall(user) && /^(json|send|jsonp)$/.test(methodOf(user)?.name ?? '')),
    )
  );
}
