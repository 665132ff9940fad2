import {
  ancestors,
  argumentsOf,
  isCall,
  isFunction,
  listAt,
  methodOf,
  nameOf,
  type Node,
  stringOf,
} from '../syntax/node.ts';

/** True if a place is in a function that only runs after a failure. */
export function runsOnFailure(node: Node): boolean {
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
