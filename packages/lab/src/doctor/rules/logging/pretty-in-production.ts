import type { Modules } from '../../syntax/modules.ts';
import {
  ancestors,
  around,
  at,
  isFunction,
  nameOf,
  type Node,
  propertyOf,
  stringOf,
} from '../../syntax/node.ts';
import type { SourceFile } from '../../syntax/source-file.ts';
import type { Rule } from '../rule.ts';

/** Functions that take pino's options, including its plugins and frameworks. */
const optionReceivers =
  /^(pino|pino\.pino|pino-http|fastify|fastify\.fastify|pino\.transport|nestjs-pino\.LoggerModule\.forRoot|@redline\/nest\.LoggerModule\.forRoot)$/;

export const prettyInProduction: Rule = {
  id: 'pretty-in-production',
  title: 'log lines made pretty where nobody reads them',
  *look({ sources, modules }) {
    for (const file of sources) {
      for (const literal of file.all('Literal')) {
        if (stringOf(literal) !== 'pino-pretty') continue;
        const property = literal.parent;
        if (property?.type !== 'Property' || propertyOf(property.parent, 'target') === undefined)
          continue;
        if (isChosen(literal) || !isTaken(file, literal, modules)) continue;
        yield {
          file,
          start: literal.start,
          end: literal.end,
          sure: 'likely',
          why: 'pino-pretty parses each line again and colours it, on a thread that shares the machine with the server.',
          how: "Only for development: process.env.NODE_ENV === 'production' ? undefined : { target: 'pino-pretty' }.",
          seen: { packages: ['pino-pretty', 'thread-stream'] },
        };
      }
      for (const call of file.all('CallExpression')) {
        const origin = modules.originOf({ file, node: at(call, 'callee')! });
        if (origin !== 'pino-pretty') continue;
        if (isChosen(call) || around(call, isFunction) !== undefined) continue;
        yield {
          file,
          start: call.start,
          end: call.end,
          sure: 'likely',
          why: 'pino-pretty formats each line on the event loop.',
          how: 'Pipe the output of a development server through pino-pretty instead, and write JSON here.',
          seen: { packages: ['pino-pretty'] },
        };
      }
    }
  },
};

/** True if the code tests for an environment, or names one: the option is then meant for development. */
function isChosen(node: Node): boolean {
  for (const above of ancestors(node)) {
    if (/^((Conditional|Logical)Expression|IfStatement|SwitchCase)$/.test(above.type)) return true;
    const name = nameOf(at(above, 'key')) ?? nameOf(at(above, 'id'));
    if (name !== undefined && /dev|debug|local|test|pretty/i.test(name)) return true;
  }
  return false;
}

/** True if it is part of a logger's options, also through a constant. */
function isTaken(file: SourceFile, node: Node, modules: Modules): boolean {
  const above = around(
    node,
    ({ type }) => type === 'CallExpression' || type === 'VariableDeclarator',
  );
  if (above?.type === 'CallExpression')
    return optionReceivers.test(modules.originOf({ file, node: at(above, 'callee')! }) ?? '');
  const id = at(above, 'id');
  const binding = id?.type === 'Identifier' ? file.scopes.find(nameOf(id)!, id) : undefined;
  if (binding === undefined) return false;
  return file
    .all('Identifier')
    .filter((each) => nameOf(each) === binding.name && each !== binding.identifier)
    .some(
      (each) =>
        each.parent?.type !== 'MemberExpression' &&
        file.scopes.find(binding.name, each) === binding &&
        !isChosen(each) &&
        isTaken(file, each, modules),
    );
}
