import type { App } from '../app/app.ts';
import {
  argumentsOf,
  at,
  bare,
  enclosingFunction,
  methodOf,
  nameOf,
  type Node,
  propertyOf,
  stringOf,
  within,
} from '../syntax/node.ts';
import type { SourceFile } from '../syntax/source-file.ts';
import { memoisationOf } from './memoisation.ts';
import type { Rule } from './rule.ts';

/** Origins of emitters that live as long as the process. */
const emitters =
  /^(events(\.EventEmitter)?\(\)|eventemitter[23](\.EventEmitter)?\(\)|(ioredis|iovalkey)(\.Redis|\.Cluster)?\(\)|redis\.createClient\(\)|pg\.(Pool|Client)\(\)|child_process\.(spawn|fork)\(\)|worker_threads\.Worker\(\)|cluster|amqplib\.connect\(\)|mqtt\.connect\(\)|nats\.connect\(\))$/;
const removing = /^(off|removeListener|removeAllListeners|removeEventListener|unsubscribe)$/;

export const listenerLeak: Rule = {
  id: 'listener-leak',
  title: 'a listener added for each request',
  *look(app) {
    for (const file of app.sources) {
      for (const call of file.all('CallExpression')) {
        const method = methodOf(call);
        if (method === undefined || !/^(on|addListener|prependListener)$/.test(method.name))
          continue;
        const [event, listener, options] = argumentsOf(call);
        if (event === undefined || listener === undefined) continue;
        const reach = app.requests.reachOf(call);
        if (reach === undefined || memoisationOf(file, call) !== undefined) continue;
        if (!isEmitter(app, file, method.object) || !isLonger(file, method.object, call)) continue;
        if (
          propertyOf(bare(options), 'signal') !== undefined ||
          isRemoved(file, call, method.object)
        )
          continue;
        const name = file.textOf(method.object);
        yield {
          file,
          start: call.start,
          end: call.end,
          sure: reach,
          why: `${name} outlives the request, and keeps this listener with everything it refers to: each request adds one, and each ${stringOf(event) ?? 'event'} calls all of them.`,
          how: `Add it once when the app starts, or remove it when the response closes: response.once('close', () => ${name}.off(…)).`,
          seen: { calls: [method.name] },
        };
      }
    }
  },
};

function isEmitter(app: App, file: SourceFile, object: Node): boolean {
  if (nameOf(object) === 'process') return file.scopes.find('process', object) === undefined;
  const origin = app.modules.originOf({ file, node: object });
  return origin !== undefined && (emitters.test(origin) || origin === 'process');
}

/** True if the emitter outlives the request: it is declared outside of the handler, or is a property of `this`. */
function isLonger(file: SourceFile, object: Node, call: Node): boolean {
  let root: Node | undefined = object;
  while (root?.type === 'MemberExpression') root = bare(at(root, 'object'));
  if (root?.type === 'ThisExpression') return root !== object;
  const name = nameOf(root);
  if (root?.type !== 'Identifier' || name === undefined) return false;
  if (name === 'process') return true;
  const binding = file.scopes.find(name, root);
  if (binding === undefined) return false;
  const fn = enclosingFunction(call);
  if (file.scopes.isOfFile(binding) || binding.kind === 'import') return true;
  // Declared in a function around the handler, such as a factory of handlers or a plugin.
  return fn !== undefined && binding.scope.start < fn.start && binding.kind !== 'parameter';
}

/** True if the same outermost function removes a listener of the emitter. */
function isRemoved(file: SourceFile, call: Node, object: Node): boolean {
  let outermost = enclosingFunction(call);
  for (let next = outermost; next !== undefined; next = enclosingFunction(next)) outermost = next;
  const name = file.textOf(object);
  return [...within(outermost ?? file.program)].some((each) => {
    const method = methodOf(each);
    return (
      method !== undefined && removing.test(method.name) && file.textOf(method.object) === name
    );
  });
}
