import type { CallNode, CallTree } from '../profile/call-tree.ts';

/** The position of a function in its script, as V8 reports it, and its own samples. */
export interface OwnTime {
  name: string;
  /** From 1. */
  line: number;
  column: number;
  /** Samples with the function on top, or a builtin that it called: `split` is a cost of its caller. */
  own: number;
}

/** Returns the own times of all functions with source, by script URL. */
export function ownTimes(tree: CallTree): Map<string, OwnTime[]> {
  const scripts = new Map<string, Map<string, OwnTime>>();
  const visit = (node: CallNode, caller: OwnTime | undefined): void => {
    const { name, url, line, column } = node.frame;
    let owner = caller;
    if (url !== '') {
      const script = scripts.get(url) ?? new Map<string, OwnTime>();
      scripts.set(url, script);
      const key = `${line}:${column}`;
      owner = script.get(key) ?? { name, line, column, own: 0 };
      script.set(key, owner);
    }
    // The garbage collector runs at arbitrary times, under the function that made the last object.
    if (owner && name !== '(garbage collector)') owner.own += node.self;
    for (const child of node.children) visit(child, owner);
  };
  visit(tree.root, undefined);
  return new Map([...scripts].map(([url, functions]) => [url, [...functions.values()]]));
}
