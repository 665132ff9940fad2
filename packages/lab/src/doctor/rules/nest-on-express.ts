import type { App } from '../app/app.ts';
import type { Edit } from '../edits.ts';
import {
  argumentsOf,
  at,
  bare,
  listAt,
  methodOf,
  nameOf,
  type Node,
  stringOf,
} from '../syntax/node.ts';
import type { SourceFile } from '../syntax/source-file.ts';
import { insertImport } from './insert-import.ts';
import type { Rule } from './rule.ts';

export const nestOnExpress: Rule = {
  id: 'nest-on-express',
  title: 'Nest on its slower platform',
  *look(app) {
    for (const file of app.sources) {
      for (const call of file.all('CallExpression')) {
        const origin = app.modules.originOf({ file, node: at(call, 'callee')! });
        if (origin !== '@nestjs/core.NestFactory.create') continue;
        const [module, second] = argumentsOf(call);
        const isAdapter = second !== undefined && bare(second)?.type !== 'ObjectExpression';
        // Another adapter, or something that may be one.
        if (module === undefined || isAdapter) continue;
        const reasons = tiesToExpress(app);
        const edits = reasons.length === 0 ? adapterEdits(app, file, module) : undefined;
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

/** What of the code only works on Express. */
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
        for (const specifier of listAt(each, 'specifiers'))
          found.add(nameOf(at(specifier, 'imported')) ?? source);
      }
    }
    for (const call of file.all('CallExpression')) {
      const method = methodOf(call);
      if (method?.name !== 'use') continue;
      if (modules.originOf({ file, node: method.object }) === '@nestjs/core.NestFactory.create()')
        found.add('app.use');
    }
  }
  return [...found];
}

function adapterEdits(app: App, file: SourceFile, module: Node): Edit[] | undefined {
  if (!app.dependencies.has('@nestjs/platform-fastify')) return undefined;
  const added = insertImport(file, 'FastifyAdapter', '@nestjs/platform-fastify');
  return (
    added && [
      ...added,
      { file, start: module.end, end: module.end, text: ', new FastifyAdapter()' },
    ]
  );
}
