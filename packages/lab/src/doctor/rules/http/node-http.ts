import { jsonAt } from '../../app/read-app.ts';
import type { App } from '../../app/app.ts';
import type { Edit } from '../../edits.ts';
import { argumentsOf, at, type Node, propertyOf, stringOf } from '../../syntax/node.ts';
import type { SourceFile } from '../../syntax/source-file.ts';
import type { Rule } from '../rule.ts';

/** Functions that create a server on Node's own HTTP, with the framework's name. */
const servers: readonly [origin: RegExp, name: string][] = [
  [/^@nestjs\/core\.NestFactory\.create$/, 'Nest'],
  [/^(express|express\.express)$/, 'Express'],
  [/^(fastify|fastify\.fastify)$/, 'Fastify'],
  [/^koa$/, 'Koa'],
  [/^@hono\/node-server\.(serve|createAdaptorServer)$/, 'Hono'],
  [/^(srvx|srvx\/node)\.serve$/, 'srvx'],
  [/^polka$/, 'Polka'],
  [/^(restify|restify\.restify)\.createServer$/, 'Restify'],
  [/^(@hapi\/hapi|@hapi\/hapi\.Hapi)\.server$/, 'hapi'],
  [/^http\.(createServer|Server)$/, 'This server'],
];
/** Servers created in a package, by the dependency in package.json and the command that starts them. */
const built: readonly { dependency: string; start: RegExp; name: string; always?: true }[] = [
  { dependency: 'fastify-cli', start: /\bfastify\s+start\b/, name: 'Fastify' },
  { dependency: 'moleculer-web', start: /\bmoleculer-runner\b/, name: 'Moleculer' },
  { dependency: 'nitropack', start: /\.output\/server\/index\.mjs/, name: 'Nitro' },
  { dependency: 'nitro', start: /\.output\/server\/index\.mjs/, name: 'Nitro' },
  { dependency: 'nuxt', start: /\.output\/server\/index\.mjs/, name: 'Nitro, below Nuxt,' },
  { dependency: 'next', start: /\bnext\s+start\b/, name: 'Next' },
  // These adapters serve no other purpose, and their templates have no script that starts the build output.
  { dependency: '@astrojs/node', start: /dist\/server\/entry\.mjs/, name: 'Astro', always: true },
  { dependency: '@sveltejs/adapter-node', start: /\bbuild\b/, name: 'SvelteKit', always: true },
];
const engine = '@redline/http';
/** Matches `npm start`, `pnpm run serve`. */
const runScript = /\b(?:npm|pnpm|yarn|bun)\s+(?:run(?:-script)?\s+)?([\w:.-]+)/g;
/** Matches `node` in a script, and the text in front of it. */
const nodeInScript = /(^|\s)node(?=\s+[^&|;\s])/;

export const nodeHttp: Rule = {
  id: 'node-http',
  title: 'HTTP parsed and written by JavaScript',
  *look(app) {
    if (hasEngine(app)) return;
    const [first] = servers.flatMap(([pattern, name]) =>
      app.sources.flatMap((file) => {
        const call = file.calls().find((each) => {
          const origin = app.modules.originOf({ file, node: at(each, 'callee')! });
          return origin !== undefined && pattern.test(origin) && !isEncrypted(each);
        });
        return call === undefined ? [] : [{ file, call, name }];
      }),
    );
    const found =
      first === undefined
        ? builtServer(app)
        : { file: first.file, start: first.call.start, end: first.call.end, name: first.name };
    if (found === undefined) return;
    const { file, start, end, name } = found;
    const edits = scriptEdit(app);
    yield {
      file,
      start,
      end,
      sure: 'likely',
      why: `${name} stands on node:http, whose parser, headers and writes are JavaScript's work for each request.`,
      how: 'node --import @redline/http/register puts a native engine below it, without a change to the code; redline try measures that.',
      ...(edits === undefined ? { preload: engine } : { edits }),
      seen: {
        packages: [
          'node:_http',
          'node:http',
          'node:internal/http',
          'node:net',
          'node:internal/stream_base_commons',
        ],
      },
    };
  },
};

/** Finds a server that package.json reveals. */
function builtServer(
  app: App,
): { file: SourceFile; start: number; end: number; name: string } | undefined {
  const { packageJson, dependencies, project } = app;
  const texts = startTexts(app);
  const found = built.find(
    ({ dependency, start, always }) =>
      dependencies.has(dependency) && (always === true || texts.some((each) => start.test(each))),
  );
  if (packageJson === undefined || found === undefined) return undefined;
  const script = Object.keys(project?.scripts ?? {}).find((name) =>
    found.start.test(project!.scripts[name]!),
  );
  const place =
    (script === undefined ? undefined : jsonAt(packageJson, 'scripts', script)) ??
    ['dependencies', 'devDependencies']
      .map((each) => jsonAt(packageJson, each, found.dependency))
      .find((each) => each !== undefined);
  if (place === undefined) return undefined;
  return { file: packageJson, start: place.start, end: place.end, name: found.name };
}

/** True if the command that starts the app, or its code, loads the engine. */
function hasEngine(app: App): boolean {
  if (startTexts(app).some((each) => each.includes(engine))) return true;
  const { sources, modules } = app;
  return sources.some(
    (file) =>
      [
        ...file.all('ImportDeclaration').map((each) => stringOf(at(each, 'source'))),
        ...requires(file),
      ].some((source) => /^@redline\/http(\/register)?$/.test(source ?? '')) ||
      file
        .calls()
        .some((each) =>
          /^@redline\/(nest\.RedlineFactory\.|http\.)/.test(
            modules.originOf({ file, node: at(each, 'callee')! }) ?? '',
          ),
        ),
  );
}

/** Returns the command with the scripts that it runs; all scripts if no command is known. */
function startTexts({ start, project }: App): string[] {
  const scripts = project?.scripts ?? {};
  if (start === undefined) return Object.values(scripts);
  const texts = new Set([start.words.join(' ')]);
  for (const text of texts) {
    for (const [, name = ''] of text.matchAll(runScript)) {
      if (Object.hasOwn(scripts, name)) texts.add(scripts[name]!);
    }
  }
  return [...texts, start.env['NODE_OPTIONS'] ?? ''];
}

function requires(file: SourceFile): (string | undefined)[] {
  return file
    .all('CallExpression')
    .filter((each) => at(each, 'callee')?.['name'] === 'require')
    .map((each) => stringOf(argumentsOf(each)[0]));
}

/** True for TLS, which the engine leaves to Node. */
function isEncrypted(call: Node): boolean {
  return argumentsOf(call).some((each) =>
    ['https', 'httpsOptions', 'http2', 'serverFactory'].some(
      (key) => propertyOf(each, key) !== undefined,
    ),
  );
}

/** Adds the import of the engine to the start script. */
function scriptEdit({ packageJson, project, start }: App): Edit[] | undefined {
  const name = ['start:prod', 'start', 'serve'].find(
    (each) => project?.scripts[each] !== undefined,
  );
  const script = name === undefined ? undefined : jsonAt(packageJson, 'scripts', name);
  const text = stringOf(script);
  if (packageJson === undefined || script === undefined || text === undefined) return undefined;
  // The given command may differ from the one in the script.
  const isStarted = start?.words.every((word) => text.includes(word)) ?? true;
  if (!isStarted || text.includes(engine) || !nodeInScript.test(text)) return undefined;
  const changed = text.replace(nodeInScript, '$1node --import @redline/http/register');
  return [
    { file: packageJson, start: script.start, end: script.end, text: JSON.stringify(changed) },
  ];
}
