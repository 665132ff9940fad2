import type { App } from '../../app/app.ts';
import type { Edit } from '../../edits.ts';
import {
  argumentsOf,
  at,
  listAt,
  methodOf,
  nameOf,
  type Node,
  stringOf,
} from '../../syntax/node.ts';
import type { SourceFile } from '../../syntax/source-file.ts';
import { insertImport } from '../imports.ts';
import { pinoWithoutRoutes, routesEdit } from '../logging/request-logs-missing.ts';
import type { Rule } from '../rule.ts';

export const nestOnExpress: Rule = {
  id: 'nest-on-express',
  title: 'Nest on its slower platform',
  *look(app) {
    for (const file of app.sources) {
      for (const call of file.all('CallExpression')) {
        const origin = app.modules.originOf({ file, node: at(call, 'callee')! });
        if (origin !== '@nestjs/core.NestFactory.create') continue;
        const [module, second] = argumentsOf(call);
        const given = second && app.modules.valueOf({ file, node: second });
        const isAdapter = second !== undefined && given?.node.type !== 'ObjectExpression';
        // Another adapter, or an expression that may be one.
        if (module === undefined || isAdapter) continue;
        const reasons = tiesToExpress(app);
        const edits = reasons.length === 0 ? adapterEdits(app, file, call) : undefined;
        yield {
          file,
          start: call.start,
          end: call.end,
          sure: reasons.length === 0 ? 'likely' : 'hint',
          why: `Without an adapter Nest runs on Express, which takes more CPU for each request than Fastify.${reasons.length === 0 ? '' : ` This app uses Express itself: ${reasons.join(', ')}.`}`,
          how: 'Give NestFactory.create a FastifyAdapter; RedlineFactory.create of @redline/nest puts the native engine below it.',
          ...(edits === undefined ? {} : { edits }),
          seen: {
            packages: [
              'express',
              'router',
              'body-parser',
              'finalhandler',
              'path-to-regexp',
              'qs',
              'send',
              'on-finished',
              'raw-body',
              'type-is',
              'parseurl',
            ],
          },
        };
      }
    }
  },
};

const isApp = /^@nestjs\/(core\.NestFactory\.create|platform-express\.NestExpressApplication)\(\)$/;
/** Methods of the app that only Express has. */
const ofExpress =
  /^(use|set|enable|disable|engine|setLocal|useStaticAssets|setBaseViewsDir|setViewEngine|useBodyParser)$/;

/** Lists code that only works on Express. */
function tiesToExpress({ sources, modules }: App): string[] {
  const found = new Set<string>();
  for (const file of sources) {
    for (const each of file.all('ImportDeclaration')) {
      const source = stringOf(at(each, 'source')) ?? '';
      if (
        /^(express|express-session|passport|multer|helmet|compression|cookie-parser|csurf)$/.test(
          source,
        )
      )
        found.add(source);
      if (source === '@nestjs/platform-express') {
        for (const specifier of listAt(each, 'specifiers')) {
          const name = nameOf(at(specifier, 'imported')) ?? source;
          // The app's type alone has no effect at run time.
          if (name !== 'NestExpressApplication') found.add(name);
        }
      }
    }
    for (const call of file.all('CallExpression')) {
      const method = methodOf(call);
      if (method === undefined || !ofExpress.test(method.name)) continue;
      const origin = modules.originOf({ file, node: method.object }) ?? '';
      if (isApp.test(origin)) found.add(`app.${method.name}`);
    }
  }
  return [...found];
}

function adapterEdits(app: App, file: SourceFile, call: Node): Edit[] | undefined {
  const [module] = argumentsOf(call) as [Node];
  // The app's type would still be that of Express.
  if (!app.dependencies.has('@nestjs/platform-fastify') || at(call, 'typeArguments'))
    return undefined;
  const added = insertImport(file, 'FastifyAdapter', '@nestjs/platform-fastify');
  // nestjs-pino would no longer log any request.
  const routes = pinoWithoutRoutes(app).map((each) => routesEdit(app, each));
  if (routes.includes(undefined)) return undefined;
  return (
    added && [
      ...added,
      ...routes.filter((each) => each !== undefined),
      { file, start: module.end, end: module.end, text: ', new FastifyAdapter()' },
    ]
  );
}
