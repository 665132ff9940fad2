import { at } from '../syntax/node.ts';
import { pinoWithoutRoutes, routesEdit } from './pino-routes.ts';
import type { Rule } from './rule.ts';

export const requestLogsMissing: Rule = {
  id: 'request-logs-missing',
  title: 'request logs that are not written',
  *look(app) {
    const { sources, modules } = app;
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
    for (const { file, node: call } of pinoWithoutRoutes(app)) {
      const edit = routesEdit(app, { file, node: call });
      if (edit === undefined) continue;
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
  },
};
