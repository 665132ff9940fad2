import type { App } from '../../app/app.ts';
import type { Code } from '../../syntax/files.ts';
import { at, nameOf, type Node } from '../../syntax/node.ts';

/** Names of decorators, modules and packages that deal with callers. */
export const guardWords: RegExp =
  /guard|auth|role|permission|session|login|logged|user|keycloak|passport|jwt|tenant|tenancy/i;

/** Matches by the import, or by the name if the import is not visible. */
export function isNamed(app: App, { file, node }: Code, origin: string): boolean {
  const known = app.modules.originOf({ file, node });
  return known === origin || (known === undefined && lastName(node) === origin.split('.').at(-1));
}

export function lastName(node: Node): string {
  return nameOf(node.type === 'MemberExpression' ? at(node, 'property') : node) ?? '';
}

export function placed(what: string, file: Code['file'], { start }: Node): string {
  return `${what} at ${file.name}:${file.placeOf(start).line}`;
}

export function firstOf<Item, Found>(
  items: Iterable<Item>,
  find: (item: Item) => Found | undefined,
): Found | undefined {
  for (const each of items) {
    const found = find(each);
    if (found !== undefined) return found;
  }
  return undefined;
}
