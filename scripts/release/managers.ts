import { realpathSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

export interface Manager {
  readonly name: string;
  /** The program and its arguments that install the app of the folder, without a lock file and without scripts. */
  readonly install: readonly string[];
  /** Node's flags to find what was installed. */
  readonly flags: readonly string[];
  /** Writes what it is configured with into the folder of the app. */
  configure(app: string, registry: string, cache: string): void;
}

/** @param tools the folder that pnpm and Yarn are installed in */
export function managers(tools: string): Manager[] {
  const inTools = (path: string): string => join(tools, 'node_modules', path);
  return [
    {
      name: 'npm',
      install: [npmCli(), 'install', '--ignore-scripts', '--no-audit', '--no-fund'],
      flags: [],
      configure: (app, registry, cache) =>
        write(app, '.npmrc', `registry=${registry}\ncache=${cache}\nloglevel=error\n`),
    },
    {
      name: 'pnpm',
      install: [inTools('pnpm/bin/pnpm.mjs'), 'install', '--ignore-scripts', '--no-lockfile'],
      flags: [],
      configure: (app, registry, cache) => {
        write(app, '.npmrc', `registry=${registry}\n`);
        const settings = { registry, storeDir: join(cache, 'store'), cacheDir: cache };
        // What is to be proved was published a moment ago.
        write(app, 'pnpm-workspace.yaml', yaml({ ...settings, minimumReleaseAge: 0 }));
      },
    },
    {
      name: 'Yarn 1',
      install: [
        inTools('yarn/bin/yarn.js'),
        'install',
        '--ignore-scripts',
        '--no-lockfile',
        '--non-interactive',
      ],
      flags: [],
      configure: (app, registry, cache) =>
        write(
          app,
          '.yarnrc',
          `registry "${registry}"\nyarn-offline-mirror false\ncache-folder "${cache}"\n`,
        ),
    },
    {
      name: 'Yarn 4, Plug’n’Play',
      install: [inTools('@yarnpkg/cli-dist/bin/yarn.js'), 'install', '--no-immutable'],
      flags: ['--require', './.pnp.cjs', '--loader', './.pnp.loader.mjs'],
      configure: (app, registry, cache) => {
        // Otherwise the folder would belong to a project above it.
        write(app, 'yarn.lock', '');
        write(
          app,
          '.yarnrc.yml',
          yaml({
            npmRegistryServer: registry,
            unsafeHttpWhitelist: ['127.0.0.1'],
            enableScripts: false,
            enableTelemetry: false,
            nodeLinker: 'pnp',
            globalFolder: cache,
            npmMinimalAgeGate: 0,
          }),
        );
      },
    },
  ];
}

/** Every JSON is YAML. */
function yaml(settings: object): string {
  return `${JSON.stringify(settings, null, 2)}\n`;
}

function write(app: string, name: string, text: string): void {
  writeFileSync(join(app, name), text);
}

/** Under `npm run` npm names itself; otherwise it is what PATH has. */
export function npmCli(): string {
  const named = process.env['npm_execpath'];
  if (named !== undefined && /npm-cli\.[cm]?js$/.test(named)) return named;
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    try {
      return realpathSync(join(folder, 'npm'));
    } catch {
      // Not in this folder.
    }
  }
  throw new Error('npm is not on PATH.');
}
