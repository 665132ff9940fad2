import {
  ancestors,
  argumentsOf,
  at,
  bare,
  enclosingFunction,
  isFunction,
  methodOf,
  nameOf,
  type Node,
  withinFunction,
} from '../syntax/node.ts';
import type { SourceFile } from '../syntax/source-file.ts';

/**
 * Returns 'once' if a piece of a function runs at most once, because its result is kept outside of it (`kept ??= read()`, `if
 * (!kept) kept = read()`), and 'a key' if once per key (`if (!kept.has(key)) kept.set(key, read())`).
 */
export function memoisationOf(file: SourceFile, node: Node): 'once' | 'a key' | undefined {
  for (const above of ancestors(node)) {
    if (isFunction(above)) break;
    if (
      above.type === 'AssignmentExpression' &&
      /^(\?\?|\|\|)=$/.test(above['operator'] as string)
    ) {
      const left = bare(at(above, 'left'));
      if (left !== undefined && isOutside(file, left, node))
        return left['computed'] === true ? 'a key' : 'once';
    }
    if (above.type === 'IfStatement' && isAssigned(file, at(above, 'test')!, node)) return 'once';
  }
  if (returnsKept(file, node)) return 'once';
  return storesByKey(file, node) ? 'a key' : undefined;
}

/** True if the test of the `if` mentions an outer variable that the function assigns. */
function isAssigned(file: SourceFile, test: Node, node: Node): boolean {
  const fn = enclosingFunction(node);
  const body = fn && at(fn, 'body');
  if (body === undefined) return false;
  const names = new Set<string>();
  for (const each of withinFunction(test)) {
    const isName = each.type === 'Identifier' || each.type === 'MemberExpression';
    if (isName && isOutside(file, each, node)) names.add(file.textOf(each));
  }
  for (const each of withinFunction(body)) {
    if (each.type === 'AssignmentExpression' && names.has(file.textOf(at(each, 'left')!)))
      return true;
  }
  return false;
}

/** True if `if (kept !== undefined) return kept;` precedes the node and an assignment to `kept` follows it. */
function returnsKept(file: SourceFile, node: Node): boolean {
  const body = at(enclosingFunction(node), 'body');
  for (const each of body === undefined ? [] : withinFunction(body)) {
    if (each.type !== 'IfStatement' || each.end > node.start) continue;
    const returns = [...withinFunction(at(each, 'consequent')!)].some(
      ({ type }) => type === 'ReturnStatement',
    );
    if (returns && isAssigned(file, at(each, 'test')!, node)) return true;
  }
  return false;
}

/** True if the function looks up a key in an outer object and sets it. */
function storesByKey(file: SourceFile, node: Node): boolean {
  const body = at(enclosingFunction(node), 'body');
  if (body === undefined) return false;
  const asked = new Set<string>();
  const given = new Set<string>();
  for (const each of withinFunction(body)) {
    const method = methodOf(each);
    if (method !== undefined && argumentsOf(each).length > 0) {
      const name = file.textOf(method.object);
      if (/^(get|has)$/.test(method.name)) asked.add(name);
      if (method.name === 'set') given.add(name);
    }
    const left = each.type === 'AssignmentExpression' ? bare(at(each, 'left')) : undefined;
    if (left?.type === 'MemberExpression' && left['computed'] === true) {
      const object = at(left, 'object')!;
      if (isOutside(file, object, node)) given.add(file.textOf(object));
    }
    if (each.type === 'MemberExpression' && each['computed'] === true)
      asked.add(file.textOf(at(each, 'object')!));
  }
  return [...given].some((name) => asked.has(name));
}

/** True if a name, or the object of a path, outlives the call of the function around a node. */
function isOutside(file: SourceFile, name: Node, node: Node): boolean {
  if (name.type === 'ThisExpression') return true;
  if (name.type === 'MemberExpression') return isOutside(file, bare(at(name, 'object'))!, node);
  if (name.type !== 'Identifier') return false;
  const binding = file.scopes.find(nameOf(name)!, name);
  if (binding === undefined) return false;
  const fn = enclosingFunction(node);
  return fn === undefined || binding.scope.start < fn.start || binding.scope.end > fn.end;
}
