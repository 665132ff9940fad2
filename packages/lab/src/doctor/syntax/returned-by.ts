import { at, bare, enclosingFunction, type Node, withinFunction } from './node.ts';

export function returnedBy(fn: Node): Node[] {
  const body = at(fn, 'body');
  if (body === undefined) return [];
  if (body.type !== 'BlockStatement') return [body];
  const found: Node[] = [];
  for (const each of withinFunction(body)) {
    const value = each.type === 'ReturnStatement' ? bare(at(each, 'argument')) : undefined;
    if (value !== undefined && enclosingFunction(each) === fn) found.push(value);
  }
  return found;
}
