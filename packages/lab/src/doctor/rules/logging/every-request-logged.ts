import { argumentsOf, at, bare, propertyOf } from '../../syntax/node.ts';
import type { Rule } from '../rule.ts';

/** Modules that write a line for each request, and the options that select requests. */
const loggers =
  /^(nestjs-pino\.LoggerModule\.forRoot|@redline\/nest\.LoggerModule\.forRoot|pino-http(\.pinoHttp)?)$/;
const choosing = ['autoLogging', 'customLogLevel', 'useLevel', 'level', 'requests', 'only'];

export const everyRequestLogged: Rule = {
  id: 'every-request-logged',
  title: 'a log line for each request that went well',
  *look({ sources, modules }) {
    for (const file of sources) {
      for (const call of file.all('CallExpression')) {
        const origin = modules.originOf({ file, node: at(call, 'callee')! });
        if (origin === undefined || !loggers.test(origin)) continue;
        const [options] = argumentsOf(call).map((each) => bare(each));
        const inner = propertyOf(options, 'pinoHttp') ?? options;
        if (options !== undefined && options.type !== 'ObjectExpression') continue;
        if (choosing.some((name) => propertyOf(inner, name) !== undefined)) continue;
        yield {
          file,
          start: call.start,
          end: call.end,
          sure: 'hint',
          why: 'A line is made and written for each response, those that nobody looks at included.',
          how: 'If metrics count the good ones already, log failures only: docs/guide/logger.md of redline shows how.',
          seen: {
            packages: ['pino', 'pino-http', 'nestjs-pino', 'sonic-boom', 'pino-std-serializers'],
          },
        };
      }
    }
  },
};
