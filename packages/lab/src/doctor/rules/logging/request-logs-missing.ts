import { argumentsOf, at, isWrittenOut, propertyOf } from '../../syntax/node.ts';
import type { Rule } from '../rule.ts';
import type { App } from '../../app/app.ts';
import type { Edit } from '../../edits.ts';
import type { Code } from '../../syntax/files.ts';

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

/** First version of Nest in which the default route of nestjs-pino matches nothing on Fastify. */
const fromNest = 12;
const setUp = /^nestjs-pino\.LoggerModule\.forRoot(Async)?$/;

/** Finds calls that set up nestjs-pino without explicit routes; none if its default matches on Fastify too. */
export function pinoWithoutRoutes({ sources, modules, majorOf }: App): Code[] {
  if ((majorOf('@nestjs/core') ?? 0) < fromNest) return [];
  return sources.flatMap((file) =>
    file
      .all('CallExpression')
      .filter((call) => setUp.test(modules.originOf({ file, node: at(call, 'callee')! }) ?? ''))
      .filter((call) => propertyOf(argumentsOf(call)[0], 'forRoutes') === undefined)
      .map((node) => ({ file, node })),
  );
}

/** Returns the edit that names all routes; undefined if the options are not a plain literal, or come from a factory. */
export function routesEdit({ modules }: App, { file, node: call }: Code): Edit | undefined {
  const [options] = argumentsOf(call);
  const origin = modules.originOf({ file, node: at(call, 'callee')! }) ?? '';
  if (origin.endsWith('Async') || (options !== undefined && !isWrittenOut(options)))
    return undefined;
  const inner = "forRoutes: ['{*path}']";
  if (options === undefined)
    return { file, start: call.end - 1, end: call.end - 1, text: `{ ${inner} }` };
  const start = options.start + 1;
  const hasOthers = (options['properties'] as unknown[]).length > 0;
  return { file, start, end: start, text: hasOthers ? ` ${inner},` : ` ${inner} ` };
}
