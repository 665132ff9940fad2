// Writes the numbers of the Rust engines as TypeScript and the native.cjs that load the addons, builds the addons and puts
// each next to its native.cjs, with its types. Without cargo it prints a message and succeeds: every package works without
// its addon. Arguments name the crates to build; without any, all are built. Plain JavaScript, because it runs before
// anything is installed.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, statSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { writeAddonLoaders } from './addon-loader.mjs';
import { writeAddonTypes } from './addon-types.mjs';
import { writeInterfaces } from './interface.mjs';
import { writeWire } from './wire.mjs';

const root = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..');
const addons = [
  {
    crate: 'spawn_node',
    needs: ['spawn_engine', 'node_loop', 'kernel'],
    into: 'packages/child-process/child-process',
  },
  {
    crate: 'http_node',
    needs: ['http_engine', 'telemetry_ring', 'node_loop', 'kernel'],
    into: 'packages/http/http',
  },
  {
    crate: 'telemetry_node',
    needs: ['telemetry_engine', 'telemetry_ring', 'node_loop'],
    into: 'packages/telemetry/telemetry',
  },
];

writeWire();
writeInterfaces();
writeAddonLoaders();
if (process.platform !== 'linux') {
  process.stderr.write('The native engines are for Linux: the packages run on Node alone here.\n');
} else if (!isOnPath('cargo')) {
  process.stderr.write(
    'cargo is not installed: the native engines are not built, and the packages run on Node alone. To build them: https://rustup.rs\n',
  );
} else {
  const named = process.argv.slice(2);
  for (const addon of addons) if (named.length === 0 || named.includes(addon.crate)) build(addon);
}

function build({ crate, needs, into }) {
  const libc = process.report.getReport().header.glibcVersionRuntime ? 'gnu' : 'musl';
  const target = join(root, `${into}.linux-${process.arch}-${libc}.node`);
  const sources = ['Cargo.toml', 'Cargo.lock', `crates/${crate}`].concat(
    needs.map((name) => `crates/${name}`),
  );
  const built = existsSync(target) ? statSync(target).mtimeMs : 0;
  if (sources.every((source) => newest(join(root, source)) <= built)) return;
  process.stderr.write(`Building ${crate} with cargo\n`);
  const folder = process.env.CARGO_TARGET_DIR ?? join(root, 'target');
  const types = join(folder, 'addon-types');
  mkdirSync(types, { recursive: true });
  try {
    execFileSync('cargo', ['build', '--release', '--locked', '--quiet', '--package', crate], {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, ...rustFlags(libc), NAPI_TYPE_DEF_TMP_FOLDER: types },
    });
  } catch {
    process.stderr.write(`cargo could not build ${crate}; its messages are above.\n`);
    process.exitCode = 1;
    return;
  }
  // Copied under another name first: a process that has the old file mapped keeps it.
  copyFileSync(join(folder, 'release', `lib${crate}.so`), `${target}.new`);
  renameSync(`${target}.new`, target);
  writeAddonTypes(crate, join(types, crate), join(root, dirname(into), 'native.d.cts'));
}

/** Returns flags that stop rustc from linking musl in, which an addon must not contain: its Node already has it. */
function rustFlags(libc) {
  if (libc !== 'musl') return {};
  return { RUSTFLAGS: `${process.env.RUSTFLAGS ?? ''} -Ctarget-feature=-crt-static`.trim() };
}

function newest(path) {
  const { mtimeMs } = statSync(path);
  if (!statSync(path).isDirectory()) return mtimeMs;
  return Math.max(mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

function isOnPath(program) {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .some((folder) => folder !== '' && existsSync(join(folder, program)));
}
