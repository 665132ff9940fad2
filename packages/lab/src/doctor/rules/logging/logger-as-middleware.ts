import { argumentsOf, at, methodOf, stringOf } from '../../syntax/node.ts';
import type { Rule } from '../rule.ts';

const packages = [
  'nestjs-pino',
  'pino-http',
  'pino',
  'thread-stream',
  'sonic-boom',
  'pino-std-serializers',
  'morgan',
  'express-winston',
  'winston',
  'logform',
];

export const loggerAsMiddleware: Rule = {
  id: 'logger-as-middleware',
  title: 'request logs through a middleware',
  *look({ sources, modules, majorOf }) {
    for (const file of sources) {
      for (const call of file.all('CallExpression')) {
        const callee = at(call, 'callee')!;
        const origin = modules.originOf({ file, node: callee }) ?? '';
        if (/^nestjs-pino\.LoggerModule\.forRoot(Async)?$/.test(origin)) {
          const nest = majorOf('@nestjs/common') ?? 0;
          const source = file
            .all('ImportDeclaration')
            .map((each) => at(each, 'source')!)
            .find((each) => stringOf(each) === 'nestjs-pino');
          yield {
            file,
            start: call.start,
            end: call.end,
            sure: 'certain',
            why: 'nestjs-pino is a middleware: it wraps each request and makes a child logger for it; pino writes synchronously unless told otherwise.',
            how: '@redline/nest/nestjs-pino has the same names and writes in batches; LoggerModule of @redline/nest is the slimmer second step.',
            ...(source === undefined || nest < 11
              ? {}
              : {
                  edits: [
                    {
                      file,
                      start: source.start,
                      end: source.end,
                      text: "'@redline/nest/nestjs-pino'",
                    },
                  ],
                }),
            seen: { packages },
          };
          continue;
        }
        if (methodOf(call)?.name !== 'use') continue;
        for (const given of argumentsOf(call)) {
          const from = modules.originOf({ file, node: given }) ?? '';
          const [, name] =
            /^(pino-http|morgan|express-pino-logger|koa-pino-logger|express-winston)(\.|\(|$)/.exec(
              from,
            ) ?? [];
          if (name === undefined) continue;
          yield {
            file,
            start: call.start,
            end: call.end,
            sure: name === 'pino-http' || name.endsWith('pino-logger') ? 'certain' : 'likely',
            why: `${name} runs as a middleware of each request: it wraps the response, listens for its end and serialises both.`,
            how: 'Attach the logger to the framework itself and write one slim line per response: docs/guide/logger.md.',
            seen: { packages },
          };
        }
      }
    }
  },
};
