import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { publishedCrates, type Target } from '../targets.mjs';
import type { BuiltTarget } from './pack.ts';
import { ask, ReleaseError, run, say } from './say.ts';

/** The glibc to link against, well below the one that Node needs: more systems can load the addon, at no cost. */
const GLIBC = '2.17';

export interface BuildOptions {
  readonly root: string;
  /** Folder of cargo-zigbuild and zig. */
  readonly programs: string;
}

/** Builds both addons for one platform. An interrupted build continues where it stopped. */
export function buildAddons(target: Target, { root, programs }: BuildOptions): BuiltTarget {
  const sysroot = ask('rustc', ['--print', 'sysroot']);
  if (sysroot === undefined || ask('cargo', ['--version']) === undefined) {
    throw new ReleaseError('cargo or rustc is missing. Install them from https://rustup.rs');
  }
  const triple = target.libc === 'gnu' ? `${target.triple}.${GLIBC}` : target.triple;
  const fromSource = standardLibrary(target, sysroot);
  say(`Building for ${target.name}${fromSource ? ', the standard library too' : ''}`);
  const packages = Object.values(publishedCrates).flatMap((crate) => ['--package', crate]);
  const std = fromSource ? ['-Zbuild-std=std,panic_abort'] : [];
  run(
    join(programs, 'cargo-zigbuild'),
    ['zigbuild', '--release', '--locked', '--quiet', ...packages, ...std, '--target', triple],
    {
      cwd: root,
      env: {
        PATH: `${programs}${delimiter}${process.env['PATH'] ?? ''}`,
        CARGO_TARGET_DIR: targetFolder(root),
        CARGO_ENCODED_RUSTFLAGS: rustFlags(target, root, sysroot).join('\x1f'),
        ...(fromSource && { RUSTC_BOOTSTRAP: '1' }),
      },
    },
  );
  const built = join(targetFolder(root), target.triple, 'release');
  const addons = Object.entries(publishedCrates).map(([name, crate]) => [
    name,
    join(built, `lib${crate}.so`),
  ]);
  return { target, addons: Object.fromEntries(addons) as Record<string, string> };
}

/** Folders of this machine that a compiler may write into its output. */
export function machinePaths(root: string): string[] {
  const sysroot = ask('rustc', ['--print', 'sysroot']) ?? '';
  // Short paths belong to the system and are the same on every machine.
  return [root, homedir(), cargoHome(), sysroot].filter((path) => path.length > 4);
}

/**
 * Returns true if Rust's standard library must be built from source too, because none is installed for the target.
 *
 * @throws {ReleaseError} if the library, rustup and the source are all missing.
 */
function standardLibrary(target: Target, sysroot: string): boolean {
  const libraries = join(sysroot, 'lib', 'rustlib');
  if (existsSync(join(libraries, target.triple, 'lib'))) return false;
  if (ask('rustup', ['--version']) !== undefined) {
    say(`Installing Rust's standard library for ${target.triple} with rustup`);
    try {
      run('rustup', ['target', 'add', target.triple]);
      return false;
    } catch {
      say(`rustup could not; looking for its source`);
    }
  }
  if (existsSync(join(libraries, 'src', 'rust', 'library', 'std'))) return true;
  throw new ReleaseError(
    `Rust's standard library for ${target.triple} is missing. Run: rustup target add ${target.triple}, or on Debian: apt-get install rust-web-src`,
  );
}

function rustFlags({ libc }: Target, root: string, sysroot: string): string[] {
  const folders = [
    [root, '/redline'],
    [cargoHome(), '/cargo'],
    [sysroot, '/rust'],
  ];
  return [
    ...folders.map(([from, to]) => `--remap-path-prefix=${from}=${to}`),
    // Stops rustc from linking musl in, which an addon must not contain: its Node already has it.
    ...(libc === 'musl' ? ['-Ctarget-feature=-crt-static'] : []),
  ];
}

function targetFolder(root: string): string {
  return process.env['CARGO_TARGET_DIR'] ?? join(root, 'target');
}

function cargoHome(): string {
  return process.env['CARGO_HOME'] ?? join(homedir(), '.cargo');
}
