import { around, at, isFunction, propertyOf, stringOf } from '../syntax/node.ts';
import type { Rule } from './rule.ts';

/** What takes pino's options, its plugins and frameworks included. */
const takers =
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
        // Whoever asks for an environment means it for development.
        const isChosen = around(
          literal,
          ({ type }) =>
            type === 'ConditionalExpression' ||
            type === 'LogicalExpression' ||
            type === 'IfStatement',
        );
        const call = around(literal, (above) => above.type === 'CallExpression');
        if (isChosen !== undefined || call === undefined) continue;
        if (!takers.test(modules.originOf({ file, node: at(call, 'callee')! }) ?? '')) continue;
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
        const chosen = around(
          call,
          (above) =>
            /^(Conditional|Logical)Expression$|^IfStatement$/.test(above.type) || isFunction(above),
        );
        if (chosen !== undefined) continue;
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
