// Builds or fetches the contenders of a scenario. Nothing else needs them, so they are installed when a benchmark requests
// them. A contender that cannot be built is skipped, with the reason.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const folder = import.meta.dirname;
const build = join(folder, 'build');

/** Programs of the contenders; present once `obtainContenders` has reported none as missing. */
export const programs = {
  go: join(build, 'spawn-go'),
  rust: join(build, 'rust', 'release', 'spawn-rust'),
  'posix-spawn': join(build, 'posix-spawn', 'release', 'libposix_spawn.so'),
  bun: join(folder, 'runtimes', 'node_modules', '.bin', 'bun'),
  deno: join(folder, 'runtimes', 'node_modules', '.bin', 'deno'),
  'go-http': join(build, 'http-go'),
  floor: join(build, 'floor', 'release', 'http-floor'),
  hyper: join(build, 'hyper', 'release', 'http-hyper'),
  axum: join(build, 'cached-axum', 'release', 'cached-axum'),
  'axum-tuned': join(build, 'cached-axum', 'tuned', 'cached-axum'),
  'go-cached': join(build, 'cached-go'),
};

export type Contender = keyof typeof programs;

const builds = {
  go: { with: 'Go', run: () => goBuild('spawn-go', programs.go) },
  rust: { with: 'cargo', run: () => cargoBuild('spawn-rust', 'rust') },
  'posix-spawn': { with: 'cargo', run: () => cargoBuild('posix-spawn', 'posix-spawn') },
  'go-http': { with: 'Go', run: () => goBuild('http-go', programs['go-http']) },
  floor: { with: 'cargo', run: () => cargoBuild('http-floor', 'floor') },
  hyper: { with: 'cargo', run: () => cargoBuild('http-hyper', 'hyper') },
  axum: { with: 'cargo', run: () => cargoBuild('cached-peers/axum', 'cached-axum') },
  'axum-tuned': {
    with: 'cargo',
    run: () => cargoBuild('cached-peers/axum', 'cached-axum', 'tuned'),
  },
  'go-cached': { with: 'Go', run: () => goBuild('cached-peers/go', programs['go-cached']) },
};

/** @returns the reasons of the missing contenders; available ones are not included */
export async function obtainContenders(
  wanted: readonly Contender[],
): Promise<Partial<Record<Contender, string>>> {
  const missing: Partial<Record<Contender, string>> = {};
  const attempt = async (name: Contender, what: string, obtain: () => Promise<unknown>) => {
    try {
      await obtain();
    } catch (error) {
      missing[name] = `${what}: ${reasonOf(error)}`;
    }
  };
  // One after the other: builds that share all cores are slowest.
  for (const [name, one] of Object.entries(builds)) {
    const contender = name as keyof typeof builds;
    if (!wanted.includes(contender)) continue;
    await attempt(contender, `${one.with} could not build it`, one.run);
  }
  const runtimes = (['bun', 'deno'] as const).filter((name) => wanted.includes(name));
  if (runtimes.length === 0) return missing;
  const fetched = await fetchPackages('runtimes');
  for (const name of runtimes) {
    await attempt(name, fetched ?? `${name} does not run here`, () =>
      run(programs[name], ['--version']),
    );
  }
  return missing;
}

/** @returns the reason why the frameworks in the folder of this name are missing; undefined if they are available */
export function obtainFrameworks(): Promise<string | undefined> {
  return fetchPackages('frameworks');
}

/** @returns the reason why the contenders of the scenario logger are missing; undefined if they are available */
export function obtainLoggers(): Promise<string | undefined> {
  return fetchPackages('logger');
}

/** @returns the reason why the contenders of the scenario telemetry are missing; undefined if they are available */
export function obtainTracers(): Promise<string | undefined> {
  return fetchPackages('telemetry');
}

function goBuild(source: string, program: string): Promise<unknown> {
  return run('go', ['build', '-trimpath', '-o', program, '.'], { cwd: join(folder, source) });
}

function cargoBuild(source: string, target: string, profile = 'release'): Promise<unknown> {
  const into = join(build, target);
  const options = ['--profile', profile, '--locked', '--quiet', '--target-dir', into];
  return run('cargo', ['build', ...options], { cwd: join(folder, source) });
}

/** Installs the packages; npm returns at once if they are present. @returns the reason of a failure */
async function fetchPackages(into: string): Promise<string | undefined> {
  try {
    // No lock file: npm omits the binaries of other platforms from it, and the versions are exact.
    await run(
      'npm',
      ['install', '--no-package-lock', '--no-audit', '--no-fund', '--loglevel=error'],
      {
        cwd: join(folder, into),
      },
    );
    return undefined;
  } catch (error) {
    return `npm could not fetch it (${reasonOf(error)})`;
  }
}

function reasonOf(error: unknown): string {
  const { code, path, stderr } = error as NodeJS.ErrnoException & { stderr?: string };
  if (code === 'ENOENT') return `there is no ${path}`;
  const lines = (stderr ?? '').trim().split('\n').filter(Boolean);
  return lines.at(-1) ?? String((error as Error).message).split('\n', 1)[0]!;
}
