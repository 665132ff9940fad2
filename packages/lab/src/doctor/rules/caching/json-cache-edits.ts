import type { App } from '../../app/app.ts';
import type { Edit } from '../../edits.ts';
import type { Code } from '../../syntax/files.ts';
import {
  returnedBy,
  argumentsOf,
  at,
  bare,
  isCall,
  isWrittenOut,
  listAt,
  methodOf,
  nameOf,
  type Node,
  propertyOf,
  startWithDecorators,
  stringOf,
  topStatementOf,
  within,
} from '../../syntax/node.ts';
import type { SourceFile } from '../../syntax/source-file.ts';
import { withoutUnusedImports } from '../imports.ts';

const manager = '@nestjs/cache-manager';
const replaced = new Set(['CacheInterceptor', 'CacheModule', 'CacheTTL']);
const understood = new Set(['stores', 'ttl', 'isGlobal']);
const ioredis = /^(ioredis|iovalkey)(\.Redis)?\(\)$/;

/**
 * Replaces CacheInterceptor with JsonCache, including its module, everywhere in the app at once: any remaining use would miss its
 * provider. Undefined if the app uses more of cache-manager, or if its store or its ttl cannot be determined.
 */
export function jsonCacheEdits(app: App): Edit[] | undefined {
  const imports = app.sources.flatMap((file) =>
    file
      .all('ImportDeclaration')
      .filter((each) => stringOf(at(each, 'source')) === manager)
      .map((declaration) => ({ file, declaration })),
  );
  const modules = imports.flatMap(({ file }) => registrationsIn(file));
  const [module, ...others] = modules;
  if (module === undefined || others.length > 0) return undefined;
  const defined = moduleEdits(app, module);
  if (defined === undefined) return undefined;
  const edits: Edit[] = [...defined.edits];
  for (const { file, declaration } of imports) {
    const own = routeEdits(file, declaration, defined.hasTtl);
    if (own === undefined) return undefined;
    const names = [
      ...(own.length > 0 ? ['JsonCache'] : []),
      ...(file === module.file ? defined.names : []),
    ];
    if (names.some((name) => file.scopes.ofFile.has(name))) return undefined;
    const { start, end } = declaration;
    const text = `import { ${names.join(', ')} } from '@redline/nest';`;
    const changed = [...own, ...edits.filter((each) => each.file === file)];
    edits.push(...own, { file, start, end, text });
    edits.push(...withoutUnusedImports(file, changed));
  }
  return edits;
}

/** Finds the calls of `CacheModule.register()`. */
function registrationsIn(file: SourceFile): Code[] {
  return file
    .all('CallExpression')
    .filter((call) => nameOf(methodOf(call)?.object) === 'CacheModule')
    .map((node) => ({ file, node }));
}

interface Defined {
  edits: Edit[];
  /** Names that the file has to import for it. */
  names: string[];
  hasTtl: boolean;
}

function moduleEdits(app: App, { file, node: call }: Code): Defined | undefined {
  const [options] = argumentsOf(call).map((each) => bare(each));
  if (methodOf(call)?.name !== 'register') return undefined;
  if (options !== undefined && !isWrittenOut(options)) return undefined;
  const keys = listAt(options, 'properties').map((each) => nameOf(at(each, 'key')) ?? '');
  if (!keys.every((key) => understood.has(key))) return undefined;
  const ttl = propertyOf(options, 'ttl');
  const ttlText = ttl === undefined ? [] : [`ttl: ${file.textOf(ttl)}`];
  const stores = propertyOf(options, 'stores');
  const made = (text: string, before: Edit[], names: string[]): Defined => ({
    edits: [...before, { file, start: call.start, end: call.end, text }],
    names: ['JsonCacheModule', ...names],
    hasTtl: ttl !== undefined,
  });
  if (stores === undefined) {
    const inner = ttlText.length === 0 ? '' : `{ ${ttlText.join(', ')} }`;
    return made(`JsonCacheModule.forRoot(${inner})`, [], []);
  }
  const client = [...within(stores)].find((node) =>
    ioredis.test(app.modules.originOf({ file, node }) ?? ''),
  );
  if (client === undefined || file.scopes.ofFile.has('cacheClient')) return undefined;
  const start = startWithDecorators(topStatementOf(call));
  const hoisted: Edit = {
    file,
    start,
    end: start,
    text: `const cacheClient = ${file.textOf(client)};\n\n`,
  };
  const store = ['store: redisStore(cacheClient)', ...ttlText].join(', ');
  const inner = mayBeMissing(app, { file, node: client })
    ? `cacheClient === undefined ? { ${ttlText.join(', ')} } : { ${store} }`.replace('{  }', '{}')
    : `{ ${store} }`;
  return made(`JsonCacheModule.forRoot(${inner})`, [hoisted], ['redisStore']);
}

/** True for a function of the app that may return undefined instead of a client. */
function mayBeMissing({ modules }: App, { file, node }: Code): boolean {
  const callee = isCall(node) ? at(node, 'callee') : undefined;
  const own = callee && modules.functionOf({ file, node: callee });
  if (own === undefined) return false;
  const type = at(own.node, 'returnType');
  const texts = [...returnedBy(own.node), ...(type === undefined ? [] : [type])];
  return texts.some((each) => /\bundefined\b/.test(own.file.textOf(each)));
}

/** Returns the edits for the routes of a file; undefined if it uses something without a counterpart. */
function routeEdits(file: SourceFile, declaration: Node, hasTtl: boolean): Edit[] | undefined {
  const edits: Edit[] = [];
  for (const specifier of listAt(declaration, 'specifiers')) {
    const name = nameOf(at(specifier, 'imported'));
    const local = at(specifier, 'local');
    if (name === undefined || name !== nameOf(local) || !replaced.has(name)) return undefined;
    for (const use of file.all('Identifier')) {
      const isUse = nameOf(use) === name && use.parent?.type !== 'ImportSpecifier';
      if (!isUse || name === 'CacheModule') continue;
      const own = decoratorEdit(file, use, name, hasTtl);
      if (own === undefined) return undefined;
      edits.push(own);
    }
  }
  return edits;
}

/** Replaces `@UseInterceptors(CacheInterceptor)` and its `@CacheTTL(n)`. */
function decoratorEdit(
  file: SourceFile,
  use: Node,
  name: string,
  hasTtl: boolean,
): Edit | undefined {
  const call = use.parent;
  const decorator = call?.parent;
  if (!isCall(call) || decorator?.type !== 'Decorator') return undefined;
  const beside = listAt(decorator.parent, 'decorators');
  const callOf = (callee: string): Node | undefined =>
    beside
      .map((each) => at(each, 'expression'))
      .find((each) => nameOf(at(each, 'callee')) === callee);
  const [ttl] = argumentsOf(callOf('CacheTTL'));
  if (name === 'CacheTTL') {
    const [given] = argumentsOf(callOf('UseInterceptors'));
    if (nameOf(given) !== 'CacheInterceptor') return undefined;
    const space = /^\s*/.exec(file.text.slice(decorator.end))![0].length;
    return { file, start: decorator.start, end: decorator.end + space, text: '' };
  }
  const isAlone = argumentsOf(call).length === 1;
  // Without a ttl, cache-manager keeps a value until it is deleted, and JsonCache for some seconds.
  if (!isAlone || nameOf(at(call, 'callee')) !== 'UseInterceptors' || (!ttl && !hasTtl))
    return undefined;
  const policy = ttl === undefined ? '' : `{ ttl: ${file.textOf(ttl)} }`;
  return { file, start: decorator.start, end: decorator.end, text: `@JsonCache(${policy})` };
}
