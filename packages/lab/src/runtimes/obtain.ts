import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { LabError } from '../errors.ts';
import {
  cacheFolder,
  findCached,
  type Receipt,
  receiptName,
  type Runtime,
  sha256Of,
} from './cache.ts';
import {
  compareVersions,
  formatRuntime,
  type RuntimeKind,
  type RuntimeSpec,
  satisfies,
} from './spec.ts';

const run = promisify(execFile);

export interface ObtainOptions {
  signal: AbortSignal;
  /** @default `REDLINE_CACHE`, or `~/.cache/redline/runtimes` */
  folder?: string;
  /** Ask npm for the newest version of the range even if an older one is cached. @default false */
  refresh?: boolean;
  /** Called about once a second while npm fetches. */
  onProgress?: (text: string) => void;
}

/**
 * Returns the runtime from the cache, or fetches it with npm. A fetched executable is run once before it is accepted, and its hash
 * is checked each time it is taken from the cache.
 * @throws {LabError} ERR_REDLINE_RUNTIME_UNKNOWN when the version does not exist, ERR_REDLINE_RUNTIME when it cannot be fetched
 * @example
 * const { file } = await obtainRuntime(parseRuntime('node@10'), { signal });
 */
export async function obtainRuntime(spec: RuntimeSpec, options: ObtainOptions): Promise<Runtime> {
  const folder = options.folder ?? cacheFolder();
  const cached = options.refresh ? undefined : await findCached(spec, folder);
  return cached ?? fetchRuntime(spec, folder, options);
}

async function fetchRuntime(
  spec: RuntimeSpec,
  folder: string,
  { signal, onProgress = () => {} }: ObtainOptions,
): Promise<Runtime> {
  const source = packageOf(spec.kind);
  const wanted = `${source.name}@${spec.range}`;
  await mkdir(folder, { recursive: true });
  // On the same file system as its final place: the rename is atomic, even with a second redline fetching the same version.
  const home = await mkdtemp(join(folder, '.fetching-'));
  const startedAt = Date.now();
  const report = (): void =>
    onProgress(
      `fetching ${formatRuntime(spec)}, ${Math.round((Date.now() - startedAt) / 1_000)} s`,
    );
  report();
  const ticker = setInterval(report, 1_000);
  try {
    await npm(
      ['install', wanted, '--prefix', home, '--no-package-lock', '--ignore-scripts', '--no-audit'],
      signal,
    );
    const receipt = await writeReceipt(home, source);
    const file = join(home, receipt.program);
    await requireRuns(spec, file, signal);
    const place = join(folder, `${spec.kind}-${receipt.version}`);
    await rm(place, { recursive: true, force: true });
    await rename(home, place);
    return { kind: spec.kind, version: receipt.version, file: join(place, receipt.program) };
  } catch (error) {
    throw await explain(error, spec, source, signal);
  } finally {
    clearInterval(ticker);
    await rm(home, { recursive: true, force: true });
  }
}

async function writeReceipt(home: string, source: RuntimePackage): Promise<Receipt> {
  const modules = join(home, 'node_modules');
  const lock = JSON.parse(await readFile(join(modules, '.package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string; integrity?: string }>;
  };
  const installed = lock.packages[`node_modules/${source.name}`]!;
  const program = join('node_modules', source.name, source.program);
  const file = join(home, program);
  const receipt: Receipt = {
    version: installed.version,
    program,
    integrity: installed.integrity ?? 'none given',
    bytes: (await stat(file)).size,
    sha256: await sha256Of(file),
  };
  await writeFile(join(home, receiptName), `${JSON.stringify(receipt, undefined, 2)}\n`);
  return receipt;
}

/** Runs the executable once: only that reveals one built for another libc or a newer CPU. */
async function requireRuns(spec: RuntimeSpec, file: string, signal: AbortSignal): Promise<void> {
  try {
    await run(file, ['--version'], { signal, timeout: 30_000 });
  } catch (cause) {
    signal.throwIfAborted();
    const reason = String((cause as Error).message).split('\n', 1)[0];
    throw new LabError(
      'ERR_REDLINE_RUNTIME',
      `${formatRuntime(spec)} was fetched but does not run on this machine: ${reason}.`,
      { cause },
    );
  }
}

async function explain(
  error: unknown,
  spec: RuntimeSpec,
  source: RuntimePackage,
  signal: AbortSignal,
): Promise<unknown> {
  if (!(error instanceof NpmFailure)) return error;
  if (!error.isUnknown) {
    return new LabError(
      'ERR_REDLINE_RUNTIME',
      `npm could not fetch ${formatRuntime(spec)}: ${error.message}.`,
      { cause: error },
    );
  }
  const known = await knownVersions(source, signal);
  return new LabError(
    'ERR_REDLINE_RUNTIME_UNKNOWN',
    `npm has no ${formatRuntime(spec)}${hintOf(known, spec.range)}.`,
  );
}

async function knownVersions(source: RuntimePackage, signal: AbortSignal): Promise<string[]> {
  try {
    const versions = JSON.parse(await npm(['view', source.name, 'versions', '--json'], signal));
    return [versions].flat().filter((version: string) => /^\d+\.\d+\.\d+$/.test(version));
  } catch {
    return [];
  }
}

/** Lists the available majors; within an existing major, its newest version. */
function hintOf(known: readonly string[], range: string): string {
  const sorted = known.toSorted(compareVersions);
  const newest = sorted.at(-1);
  if (newest === undefined) return '';
  const major = range.split('.', 1)[0]!;
  const newestOfMajor = sorted.findLast((version) => satisfies(version, major));
  if (newestOfMajor !== undefined) return `; the newest ${major} is ${newestOfMajor}`;
  return `; the oldest is ${sorted[0]}, the newest ${newest}`;
}

/**
 * Runs npm: its configuration holds the user's registry, proxy and credentials, and it checks each tarball against the integrity
 * its registry promises.
 * @throws {NpmFailure} with npm's own code, e.g. `E404`, `ETARGET`
 */
export function npm(args: readonly string[], signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      'npm',
      [...args, '--loglevel=error'],
      { signal, maxBuffer: 64 * 2 ** 20, shell: process.platform === 'win32' },
      (error, stdout, stderr) => {
        if (error === null) return resolve(stdout);
        if (signal.aborted) return reject(signal.reason as Error);
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
          return reject(
            new LabError(
              'ERR_REDLINE_RUNTIME',
              'npm is not on PATH; it is needed to fetch a runtime.',
            ),
          );
        }
        return reject(new NpmFailure(stderr));
      },
    );
  });
}

class NpmFailure extends Error {
  readonly code: string | undefined;

  constructor(stderr: string) {
    const lines = stderr
      .split('\n')
      .map((line) => line.replace(/^npm (error|ERR!)\s*/, ''))
      .filter((line) => line !== '' && !line.startsWith('npm warn'));
    const code = lines.find((line) => line.startsWith('code '))?.slice('code '.length);
    super(lines.find((line) => !line.startsWith('code ')) ?? 'npm printed nothing');
    this.code = code;
  }

  get isUnknown(): boolean {
    return ['E404', 'ETARGET', 'ENOVERSIONS'].includes(this.code ?? '');
  }
}

/** The npm package that holds the executable of a runtime. */
interface RuntimePackage {
  name: string;
  /** Path of the executable, relative to the package's root. */
  program: string;
}

const systems = {
  node: { linux: 'linux', darwin: 'darwin', win32: 'win' },
  bun: { linux: 'linux', darwin: 'darwin', win32: 'windows' },
  deno: { linux: 'linux', darwin: 'darwin', win32: 'win32' },
} as const;

/**
 * Returns the package with the executable for this system. These packages hold one prebuilt binary and no install script.
 * @throws {LabError} ERR_REDLINE_RUNTIME if none is published
 */
export function packageOf(
  kind: RuntimeKind,
  platform: NodeJS.Platform = process.platform,
  arch: string = process.arch,
): RuntimePackage {
  const system = (systems[kind] as Partial<Record<NodeJS.Platform, string>>)[platform];
  if (system === undefined || (arch !== 'x64' && arch !== 'arm64')) {
    throw new LabError(
      'ERR_REDLINE_RUNTIME',
      `npm has no ${kind} for ${platform} on ${arch}; to compare installed runtimes, use redline bench.`,
    );
  }
  const ending = platform === 'win32' ? '.exe' : '';
  if (kind === 'node') {
    return { name: `node-${system}-${arch}`, program: join('bin', `node${ending}`) };
  }
  if (kind === 'bun') {
    const cpu = arch === 'arm64' ? 'aarch64' : 'x64';
    return { name: `@oven/bun-${system}-${cpu}`, program: join('bin', `bun${ending}`) };
  }
  const libc = platform === 'linux' ? '-glibc' : '';
  return { name: `@deno/${system}-${arch}${libc}`, program: `deno${ending}` };
}
