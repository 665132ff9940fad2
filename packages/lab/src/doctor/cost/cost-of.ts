import type { CallNode, CallTree } from '../../profile/call-tree.ts';
import type { Seen } from '../rules/rule.ts';
import type { Node } from '../syntax/node.ts';
import type { ObservedFunctions } from './observed-functions.ts';

/** Counts samples in calls of these names made by a function of the app, directly or through code outside the app. */
export function samplesInCalls(
  tree: CallTree,
  functions: ObservedFunctions,
  fn: Node,
  names: readonly string[],
): number {
  const isNamed = ({ frame }: CallNode): boolean =>
    names.some((name) => frame.name === name || frame.name.endsWith(`.${name}`));
  const below = (node: CallNode): number =>
    node.children.reduce((sum, child) => {
      // Calls in another function of the app are attributed to that function.
      if (functions.of(child.frame) !== undefined) return sum;
      return sum + (isNamed(child) ? child.total : below(child));
    }, 0);
  const visit = (node: CallNode): number => {
    const own = functions.of(node.frame)?.node === fn ? below(node) : 0;
    return node.children.reduce((sum, child) => sum + visit(child), own);
  };
  return visit(tree.root);
}

/** Counts samples whose own time belongs to a package or a module of Node: its functions, and the builtins they call. */
export function samplesInPackages(tree: CallTree, packages: readonly string[]): number {
  const isTheirs = (url: string): boolean =>
    packages.some((name) =>
      name.startsWith('node:') ? url.startsWith(name) : url.includes(`/node_modules/${name}/`),
    );
  const visit = (node: CallNode, caller: boolean): number => {
    const { url, name } = node.frame;
    const isOurs = url === '' ? caller && name !== '(garbage collector)' : isTheirs(url);
    return node.children.reduce((sum, child) => sum + visit(child, isOurs), isOurs ? node.self : 0);
  };
  return visit(tree.root, false);
}

/** Counts samples with a function of the app on the stack. */
function samplesWith(tree: CallTree, functions: ObservedFunctions, fn: Node): number {
  const visit = (node: CallNode): number =>
    functions.of(node.frame)?.node === fn
      ? node.total
      : node.children.reduce((sum, child) => sum + visit(child), 0);
  return visit(tree.root);
}

export function samplesOf(
  tree: CallTree,
  functions: ObservedFunctions,
  seen: Seen,
  fn: Node | undefined,
): number | undefined {
  if ('packages' in seen) return samplesInPackages(tree, seen.packages);
  if ('itself' in seen) return samplesWith(tree, functions, seen.itself);
  return fn && samplesInCalls(tree, functions, fn, seen.calls);
}
