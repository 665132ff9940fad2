import { realpathSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

export interface Manager {
  readonly name: string;
  /** Program and arguments that install the app in the folder, without a lock file and without scripts. */
  readonly install: readonly string[];
  /** Flags for Node to find the installed packages. */
  readonly flags: readonly string[];
  /** Writes the manager's configuration into the app's folder. */
  configure(app: string, registry: string, cache: string): void;
}

/** @param tools the folder with pnpm and Yarn */
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
        // The packages under test were published a moment ago.
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
        // Without it, the folder would belong to a project above it.
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

/** Writes one line per setting, so that others can follow: all JSON is valid YAML. */
function yaml(settings: object): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`)
    .join('');
}

function write(app: string, name: string, text: string): void {
  writeFileSync(join(app, name), text);
}

/** Returns npm's path: `npm run` passes it, otherwise it is found on PATH. */
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
