import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

export interface Bundle {
  /** The folder with the program and the packages that it imports. */
  readonly app: string;
  readonly program: string;
  /** `.mjs` for an ES module, `.cjs` for CommonJS. Other files may be written next to it. */
  readonly file: string;
  /** True if the program imports packages in CommonJS. */
  readonly hasCommonJs: boolean;
  /** True if the packages of this repository are left out. */
  readonly isExternal: boolean;
}

/** Makes a bundle for Node and returns the warnings about the packages of this repository. */
export type Bundler = (bundle: Bundle) => Promise<string[]>;

/** Returns the bundlers by their names. @param tools the folder in which they are installed */
export function bundlersIn(tools: string): Readonly<Record<string, Bundler>> {
  const load = createRequire(join(tools, 'package.json'));
  const asWritten = { optimization: { minimize: false }, experiments: { outputModule: true } };
  return {
    esbuild: (bundle) => withEsbuild(load('esbuild') as Esbuild, bundle),
    Rollup: (bundle) => withRollup(load, bundle),
    // Rspack shows what a minified bundle does, in a tenth of the time.
    webpack: (bundle) => withWebpack(load('webpack') as Webpack, bundle, asWritten),
    Rspack: (bundle) => withWebpack((load('@rspack/core') as { rspack: Webpack }).rspack, bundle),
  };
}

/** Packages that Nest imports if they are there: no bundler can find them where they are not. */
const optional =
  /^(?:@nestjs\/(?:microservices|websockets)|class-(?:transformer|validator)|@fastify\/(?:multipart|static|view))(?:\/|$)/;
const ours = /^@redline\//;

function isOutside(name: string, { isExternal }: Bundle): boolean {
  return optional.test(name) || (isExternal && ours.test(name));
}

function isModule({ file }: Bundle): boolean {
  return file.endsWith('.mjs');
}

/** Returns the warnings about files of these packages. What `@redline/nest` imports if it is there has no fixed name. */
function about(warnings: readonly string[]): string[] {
  return warnings.filter(
    (text) => text.includes('@redline/') && !text.includes('attach-to-work.js'),
  );
}

interface Esbuild {
  build(options: object): Promise<{ warnings: { text: string; location?: { file: string } }[] }>;
}

async function withEsbuild({ build }: Esbuild, bundle: Bundle): Promise<string[]> {
  // The ES modules that esbuild makes have no `require`; packages in CommonJS load Node's modules with it.
  const banner =
    "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);";
  const { warnings } = await build({
    absWorkingDir: bundle.app,
    entryPoints: [bundle.program],
    outfile: bundle.file,
    bundle: true,
    platform: 'node',
    format: isModule(bundle) ? 'esm' : 'cjs',
    ...(isModule(bundle) && bundle.hasCommonJs && { banner: { js: banner } }),
    logLevel: 'silent',
    external: ['@nestjs/microservices', '@nestjs/websockets', 'class-transformer'].concat(
      ['class-validator', '@fastify/multipart', '@fastify/static', '@fastify/view'],
      bundle.isExternal ? ['@redline/*'] : [],
    ),
  });
  return about(warnings.map(({ text, location }) => `${location?.file ?? ''}: ${text}`));
}

interface Rollup {
  rollup(options: object): Promise<{ write(output: object): Promise<unknown> }>;
}

async function withRollup(load: NodeJS.Require, bundle: Bundle): Promise<string[]> {
  const { rollup } = load('rollup') as Rollup;
  const plugin = (name: string, options?: object): object =>
    (load(`@rollup/plugin-${name}`) as { default: (options?: object) => object }).default(options);
  const warnings: string[] = [];
  const made = await rollup({
    input: join(bundle.app, bundle.program),
    external: (name: string) => isOutside(name, bundle),
    plugins: [
      plugin('node-resolve', { exportConditions: ['node'], preferBuiltins: true }),
      plugin('commonjs'),
      plugin('json'),
    ],
    onLog(level: string, { code, message }: { code: string; message: string }) {
      // The helpers that TypeScript writes for decorators read `this`, as those of every other package do.
      if (level === 'warn' && code !== 'THIS_IS_UNDEFINED') warnings.push(message);
    },
  });
  const format = isModule(bundle) ? 'es' : 'cjs';
  await made.write({ file: bundle.file, format, inlineDynamicImports: true });
  return about(warnings);
}

type Webpack = (
  options: object,
  done: (error: Error | null, stats?: { toJson(options: object): WebpackStats }) => void,
) => void;

interface WebpackStats {
  readonly errors: readonly { message: string }[];
  readonly warnings: readonly { message: string; moduleName?: string }[];
}

/** For Rspack too, which has the same options. */
async function withWebpack(
  webpack: Webpack,
  bundle: Bundle,
  others: object = {},
): Promise<string[]> {
  const options = {
    context: bundle.app,
    entry: `./${bundle.program}`,
    target: 'node',
    mode: 'production',
    externals: [
      ({ request }: { request: string }, done: (error?: null, external?: string) => void) => {
        const type = isModule(bundle) && ours.test(request) ? 'module' : 'node-commonjs';
        if (isOutside(request, bundle)) done(null, `${type} ${request}`);
        else done();
      },
    ],
    output: {
      path: dirname(bundle.file),
      filename: basename(bundle.file),
      ...(isModule(bundle) && { module: true, chunkFormat: 'module', library: { type: 'module' } }),
    },
    ...others,
  };
  const { errors, warnings } = await new Promise<WebpackStats>((resolve, reject) => {
    webpack(options, (error, stats) => {
      if (stats === undefined) reject(error);
      else resolve(stats.toJson({ all: false, errors: true, warnings: true }));
    });
  });
  if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'));
  return about(warnings.map(({ message, moduleName }) => `${moduleName}: ${message}`));
}
