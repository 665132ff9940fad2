import type { CallNode, CallTree } from '../profile/call-tree.ts';

/** Where a function of a script begins, as V8 says, and the samples that are its own. */
export interface OwnTime {
  name: string;
  /** From 1. */
  line: number;
  column: number;
  /** Samples with it on top, or with a builtin on top that it called: `split` is the caller's doing. */
  own: number;
}

/** Own times of all functions with source, by the url of their script. */
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
    // The garbage collector runs when it must, under whoever made the last object.
    if (owner && name !== '(garbage collector)') owner.own += node.self;
    for (const child of node.children) visit(child, owner);
  };
  visit(tree.root, undefined);
  return new Map([...scripts].map(([url, functions]) => [url, [...functions.values()]]));
}
