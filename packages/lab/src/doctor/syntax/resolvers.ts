import type { Code } from './files.ts';
import type { Modules } from './modules.ts';
import { at, isFunction, listAt, type Node, propertyOf } from './node.ts';
import type { SourceFile } from './source-file.ts';

const roots = ['Query', 'Mutation', 'Subscription'];

/** Finds the GraphQL resolvers of a file: functions below `Query` and its sibling types, and the `resolve` of a field. */
export function* resolversIn(file: SourceFile, modules: Modules): Generator<Code> {
  for (const object of file.all('ObjectExpression')) {
    const fields = roots.flatMap((name) => fieldsOf({ file, node: object }, name, modules) ?? []);
    if (fields.length > 0) {
      for (const type of listAt(object, 'properties')) yield* functionsIn(file, type, modules);
    }
    const resolve = propertyOf(object, 'resolve');
    if (resolve !== undefined && propertyOf(object, 'type') !== undefined)
      yield { file, node: resolve };
  }
}

/** Undefined unless it is an object that contains a function. */
function fieldsOf({ file, node }: Code, name: string, modules: Modules): Code | undefined {
  const value = propertyOf(node, name);
  const fields = value && modules.valueOf({ file, node: value });
  const hasFunction = listAt(fields?.node, 'properties').some((each) => {
    const given = at(each, 'value');
    return (
      fields !== undefined &&
      given !== undefined &&
      (isFunction(given) || modules.functionOf({ file: fields.file, node: given }) !== undefined)
    );
  });
  return hasFunction ? fields : undefined;
}

function* functionsIn(file: SourceFile, type: Node, modules: Modules): Generator<Code> {
  const value = at(type, 'value');
  const fields = value && modules.valueOf({ file, node: value });
  for (const each of listAt(fields?.node, 'properties')) {
    const given = at(each, 'value');
    if (given === undefined) continue;
    yield { file: fields!.file, node: given };
    // A subscription has both.
    for (const name of ['resolve', 'subscribe']) {
      const own = propertyOf(given, name);
      if (own !== undefined) yield { file: fields!.file, node: own };
    }
  }
}
