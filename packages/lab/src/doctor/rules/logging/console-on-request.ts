import {
  ancestors,
  argumentsOf,
  around,
  at,
  enclosingFunction,
  isCall,
  isFunction,
  listAt,
  methodOf,
  nameOf,
  type Node,
  stringOf,
} from '../../syntax/node.ts';
import type { Rule } from '../rule.ts';

export const consoleOnRequest: Rule = {
  id: 'console-on-request',
  title: 'console.log for each request',
  *look({ sources, modules, requests }) {
    for (const file of sources) {
      for (const call of file.all('CallExpression')) {
        const origin = modules.originOf({ file, node: at(call, 'callee')! }) ?? '';
        const name = /^console\.(log|info|debug|table|dir)(\.bind\(\))?$/.exec(origin)?.[1];
        if (name === undefined || runsOnFailure(call)) continue;
        const reach = requests.reachOf(call);
        // Output on failures only, or on demand, costs nothing in normal operation.
        const fn = enclosingFunction(call);
        const condition = around(
          call,
          (above) =>
            isFunction(above) ||
            /^(IfStatement|CatchClause|ConditionalExpression|LogicalExpression|SwitchCase)$/.test(
              above.type,
            ),
        );
        if (reach === undefined || condition !== fn) continue;
        yield {
          file,
          start: call.start,
          end: call.end,
          sure: reach,
          why: `console.${name} formats its arguments and writes them synchronously: to a file or a pipe, the event loop waits.`,
          how: 'Write through a logger that buffers, such as pino with { sync: false }, or leave it out.',
          seen: { calls: [name] },
        };
      }
    }
  },
};

/** True if a place is in a function that only runs after a failure. */
function runsOnFailure(node: Node): boolean {
  for (const fn of ancestors(node)) {
    if (!isFunction(fn)) continue;
    // Express recognises error handlers by their four parameters.
    const [first = '', ...others] = listAt(fn, 'params').map((each) => nameOf(each) ?? '');
    if (others.length === 3 && /^_?(e|err|error|exception|ex)$/i.test(first)) return true;
    if (isHandedToFailure(fn)) return true;
    const { parent } = fn;
    if (parent?.type === 'MethodDefinition' && nameOf(parent['key'] as Node) === 'catch')
      return true;
  }
  return false;
}

/** Matches `promise.catch(fn)`, `promise.then(…, fn)`, `stream.on('error', fn)`, `app.setErrorHandler(fn)`. */
function isHandedToFailure(fn: Node): boolean {
  const call = fn.parent;
  const method = methodOf(call);
  if (!isCall(call) || method === undefined) return false;
  const [first, second] = argumentsOf(call);
  switch (method.name) {
    case 'catch':
    case 'setErrorHandler':
    case 'onError':
      return true;
    case 'then':
      return second === fn;
    case 'on':
    case 'once':
    case 'addListener':
    case 'addHook':
      return /^(error|onError|uncaughtException|unhandledRejection|aborted|timeout)$/.test(
        stringOf(first) ?? '',
      );
    default:
      return false;
  }
}
