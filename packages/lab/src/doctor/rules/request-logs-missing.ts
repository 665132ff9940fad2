import { argumentsOf, at, isWrittenOut, propertyOf } from '../syntax/node.ts';
import type { Edit } from '../edits.ts';
import type { Rule } from './rule.ts';

/** From here on the default route of nestjs-pino matches nothing on Fastify. */
const fromNest = 12;

export const requestLogsMissing: Rule = {
  id: 'request-logs-missing',
  title: 'request logs that are not written',
  *look({ sources, modules, majorOf }) {
    if ((majorOf('@nestjs/core') ?? 0) < fromNest) return;
    const isOnFastify = sources.some((file) =>
      file
        .all('NewExpression')
        .some(
          (each) =>
            modules.originOf({ file, node: at(each, 'callee')! }) ===
            '@nestjs/platform-fastify.FastifyAdapter',
        ),
    );
    if (!isOnFastify) return;
    for (const file of sources) {
      for (const call of file.all('CallExpression')) {
        if (
          modules.originOf({ file, node: at(call, 'callee')! }) !==
          'nestjs-pino.LoggerModule.forRoot'
        )
          continue;
        const [options] = argumentsOf(call);
        if (propertyOf(options, 'forRoutes') !== undefined) continue;
        if (options !== undefined && !isWrittenOut(options)) continue;
        const inner = "forRoutes: ['{*path}']";
        const edit: Edit =
          options === undefined
            ? { file, start: call.end - 1, end: call.end - 1, text: `{ ${inner} }` }
            : {
                file,
                start: options.start + 1,
                end: options.start + 1,
                text: (options['properties'] as unknown[]).length > 0 ? ` ${inner},` : ` ${inner} `,
              };
        yield {
          file,
          start: call.start,
          end: call.end,
          sure: 'certain',
          why: 'On Fastify and Nest 12 the default route of nestjs-pino matches nothing, so no request is logged.',
          how: 'Give it forRoutes, or use LoggerModule of @redline/nest, which logs all routes by default.',
          edits: [edit],
        };
      }
    }
  },
};
