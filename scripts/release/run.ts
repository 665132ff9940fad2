// `npm run release [-- STEP…]`: builds and proves everything that npm publishes, on one Linux machine; `publish` sends it.
// Named platforms limit what is built, checked and packed: `npm run release -- build linux-arm64-musl`. Every step leaves its results in
// redline-out/release, so each can be run alone, and again after an interruption.
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { publishedCrates, type Target, targets } from '../targets.mjs';
import { buildAddons, machinePaths } from './build-addons.ts';
import { checkAddon } from './check-addon.ts';
import { obtainCrossTools } from './cross-tools.ts';
import { type BuiltTarget, commonVersion, pack, packageFolders } from './pack.ts';
import { proveBundles } from './prove-bundles.ts';
import { proveInstall, type ProofOptions } from './prove-install.ts';
import { proveMusl } from './prove-musl.ts';
import { proveArm64, proveNodes, proveOtherSystems } from './prove-systems.ts';
import { publish } from './publish.ts';
import { obtainTools, startRegistry } from './registry.ts';
import { ask, ReleaseError, say } from './say.ts';

const root = join(import.meta.dirname, '../..');
const out = join(root, 'redline-out', 'release');
const cache = join(root, 'node_modules', '.cache', 'redline');
const list = join(out, 'packages.json');

const proofs: Record<string, (options: ProofOptions) => Promise<void>> = {
  install: proveInstall,
  systems: proveOtherSystems,
  nodes: proveNodes,
  bundles: proveBundles,
  arm64: proveArm64,
  musl: proveMusl,
};
const all = ['build', 'check', 'pack', ...Object.keys(proofs)];

// Ending by `exit` stops the registry too; built files stay, and the next run continues with them.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
try {
  await runSteps(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof ReleaseError)) throw error;
  say(error.message);
  process.exitCode = 1;
}

async function runSteps(named: readonly string[]): Promise<void> {
  const platforms = targets.filter(({ name }) => named.includes(name));
  const steps = named.filter((name) => platforms.every((platform) => platform.name !== name));
  const known = [...all, 'publish'];
  const unknown = steps.find((step) => !known.includes(step));
  if (unknown !== undefined) {
    const names = targets.map(({ name }) => name).join(', ');
    throw new ReleaseError(
      `Unknown step ${unknown}; known are ${known.join(', ')}, and the platforms ${names}.`,
    );
  }
  if (steps.length === 0) steps.push(...all);
  const chosenPlatforms = platforms.length > 0 ? platforms : targets;
  if (steps.includes('build')) build(chosenPlatforms);
  if (steps.includes('check')) check(chosenPlatforms);
  if (steps.includes('pack')) await packAll(chosenPlatforms);
  const chosen = Object.keys(proofs).filter((name) => steps.includes(name));
  if (chosen.length > 0) await prove(chosen);
  if (steps.includes('publish')) publish(completeTarballs());
}

function build(platforms: readonly Target[]): void {
  const programs = obtainCrossTools(cache);
  for (const target of platforms) {
    const { addons } = buildAddons(target, { root, programs });
    const folder = join(out, 'addons', target.name);
    mkdirSync(folder, { recursive: true });
    for (const [name, file] of Object.entries(addons)) {
      copyFileSync(file, join(folder, `${name}.node`));
    }
  }
}

function check(platforms: readonly Target[]): void {
  const complaints: string[] = [];
  for (const { target, addons } of builtTargets(platforms)) {
    for (const [name, file] of Object.entries(addons)) {
      const checked = checkAddon(file, target, machinePaths(root));
      const needs = checked.glibc === undefined ? '' : `, glibc ${checked.glibc}`;
      say(`${target.name} ${name}: ${Math.round(checked.bytes / 1_000)} KB${needs}`);
      complaints.push(...checked.complaints.map((text) => `${target.name} ${name}: ${text}.`));
    }
  }
  if (complaints.length > 0) throw new ReleaseError(complaints.join('\n'));
}

async function packAll(platforms: readonly Target[]): Promise<void> {
  say('Packing');
  const into = join(out, 'packages');
  const files = pack({ root, built: builtTargets(platforms), into });
  for (const file of files) await lint(file);
  writeFileSync(list, `${JSON.stringify(files, null, 2)}\n`);
  say(`${files.length} packages in ${into}`);
  writeBillsOfMaterials();
}

/** Lints a tarball: the platform packages are in no folder that `npm run check` examines. */
async function lint(tarball: string): Promise<void> {
  const { buffer } = new Uint8Array(readFileSync(tarball));
  const { messages, pkg } = await publint({ pack: { tarball: buffer }, strict: true });
  const complaints = messages.map((message) => formatMessage(message, pkg!, { color: false }));
  if (complaints.length > 0) throw new ReleaseError(`${tarball}: ${complaints.join('; ')}`);
}

/** Lists the dependencies of each package; packages with addons contain their own list, of the crates. */
function writeBillsOfMaterials(): void {
  const folder = join(out, 'sbom');
  mkdirSync(folder, { recursive: true });
  for (const name of packageFolders(root)) {
    const flags = ['--omit=dev', '--sbom-format=cyclonedx', '--package-lock-only'];
    const text = ask('npm', ['sbom', `--workspace=packages/${name}`, ...flags], root);
    if (text === undefined) throw new ReleaseError(`npm sbom failed for packages/${name}.`);
    writeFileSync(join(folder, `${name}.cdx.json`), `${text}\n`);
  }
}

async function prove(names: readonly string[]): Promise<void> {
  const tools = obtainTools(root);
  await using registry = await startRegistry(tarballs(), tools, join(cache, 'registry'));
  const folder = join(out, 'proof');
  const options: ProofOptions = {
    root,
    folder,
    tools,
    programs: obtainCrossTools(cache),
    registry: registry.url,
    version: commonVersion(root),
  };
  const failed: string[] = [];
  for (const name of names) {
    try {
      await proofs[name]!(options);
    } catch (error) {
      // Continues, to report all failures at once: a run takes minutes.
      if (!(error instanceof ReleaseError)) throw error;
      say(error.message);
      failed.push(name);
    }
  }
  if (failed.length > 0) {
    const again = `To repeat them alone: npm run release -- ${failed.join(' ')}`;
    throw new ReleaseError(`Not proved: ${failed.join(', ')}. ${again}`);
  }
}

/** Returns the built addons of the platforms; throws if one is missing. */
function builtTargets(platforms: readonly Target[]): BuiltTarget[] {
  return platforms.map((target) => {
    const files = Object.keys(publishedCrates).map((name) => {
      const file = join(out, 'addons', target.name, `${name}.node`);
      if (!existsSync(file)) throw new ReleaseError(`${file} is missing. Run: npm run release`);
      return [name, file];
    });
    return { target, addons: Object.fromEntries(files) as Record<string, string> };
  });
}

function tarballs(): string[] {
  if (!existsSync(list)) throw new ReleaseError(`${list} is missing. Run: npm run release`);
  return JSON.parse(readFileSync(list, 'utf8')) as string[];
}

/** Throws if a platform was not packed: its systems would install no engine. */
function completeTarballs(): string[] {
  const files = tarballs();
  for (const { name } of targets) {
    if (!files.some((file) => basename(file).startsWith(`redline-native-${name}-`))) {
      throw new ReleaseError(`${list} has no package for ${name}. Run: npm run release`);
    }
  }
  return files;
}
