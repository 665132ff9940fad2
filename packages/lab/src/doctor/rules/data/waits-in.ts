import type { App } from '../../app/app.ts';
import type { Code } from '../../syntax/files.ts';
import { at, isCall, type Node, withinFunction } from '../../syntax/node.ts';
import { type DataCall, dataCallOf } from './data-calls.ts';

/** Max depth of calls to follow: a helper of a helper that runs the query. */
const maxSteps = 3;
const known = new WeakMap<Node, readonly DataCall[]>();

export interface Wait extends DataCall {
  /** The wait is inside a function of the app that is called here. */
  isInHelper: boolean;
}

/** Returns the data calls that an awaited expression waits for: itself, or those in the app's function that it calls. */
export function waitsOf(app: App, { file, node }: Code): readonly Wait[] {
  const own = dataCallOf(app, { file, node });
  if (own !== undefined) return [{ ...own, isInHelper: false }];
  if (node.type !== 'CallExpression') return [];
  const called = app.modules.functionOf({ file, node: at(node, 'callee')! });
  if (called === undefined) return [];
  return waitsIn(app, called, maxSteps).map((each) => ({ ...each, isInHelper: true }));
}

function waitsIn(app: App, { file, node: fn }: Code, steps: number): readonly DataCall[] {
  const earlier = known.get(fn);
  if (earlier !== undefined || steps === 0) return earlier ?? [];
  // Stops at recursion.
  known.set(fn, []);
  const body = at(fn, 'body');
  const found: DataCall[] = [];
  for (const node of body === undefined ? [] : withinFunction(body)) {
    if (!isCall(node)) continue;
    const own = dataCallOf(app, { file, node });
    const called =
      own === undefined ? app.modules.functionOf({ file, node: at(node, 'callee')! }) : undefined;
    if (own !== undefined) found.push(own);
    else if (called !== undefined) found.push(...waitsIn(app, called, steps - 1));
  }
  known.set(fn, found);
  return found;
}
