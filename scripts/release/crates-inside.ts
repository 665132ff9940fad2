// Third-party crates that are compiled into the addons, as resolved by cargo.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { publishedCrates, targets } from '../targets.mjs';

export interface CrateInside {
  readonly name: string;
  readonly version: string;
  /** An SPDX expression. */
  readonly license: string;
  readonly authors: readonly string[];
  /** The licence texts in its folder. */
  readonly texts: readonly string[];
}

interface Metadata {
  packages: {
    id: string;
    name: string;
    version: string;
    license: string | null;
    authors: string[];
    source: string | null;
    manifest_path: string;
    targets: { kind: string[] }[];
  }[];
  resolve: {
    nodes: { id: string; deps: { pkg: string; dep_kinds: { kind: string | null }[] }[] }[];
  };
}

/** Returns them sorted by name. Our own crates, macros and build dependencies are excluded: none of their code is shipped. */
export function cratesInside(root: string): CrateInside[] {
  const triples = targets.flatMap(({ triple }) => ['--filter-platform', triple]);
  const { packages, resolve } = JSON.parse(
    execFileSync('cargo', ['metadata', '--format-version', '1', '--locked', ...triples], {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 64 << 20,
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  ) as Metadata;
  const byId = new Map(packages.map((each) => [each.id, each]));
  const nodes = new Map(resolve.nodes.map((node) => [node.id, node]));
  const ours = new Set<string>(Object.values(publishedCrates));
  const toVisit = packages.filter(({ name }) => ours.has(name)).map(({ id }) => id);
  // Iteration over a set includes the entries added meanwhile.
  const found = new Set(toVisit);
  for (const id of found) {
    for (const { pkg, dep_kinds: kinds } of nodes.get(id)?.deps ?? []) {
      const isMacro = byId.get(pkg)?.targets.some(({ kind }) => kind.includes('proc-macro'));
      if (!isMacro && kinds.some(({ kind }) => kind === null)) found.add(pkg);
    }
  }
  return [...found]
    .map((id) => byId.get(id)!)
    .filter(({ source }) => source !== null)
    .map(({ name, version, license, authors, manifest_path: manifest }) => ({
      name,
      version,
      license: license ?? fail(`${name} ${version} names no licence in its Cargo.toml.`),
      authors,
      texts: licenseTexts(dirname(manifest)),
    }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** If licences can be chosen, MIT is used, which is ours too. */
function licenseTexts(folder: string): string[] {
  const files = readdirSync(folder).filter((name) => /^(?:licen[cs]e|copying|notice)/i.test(name));
  const mit = files.filter((name) => /mit/i.test(name));
  return (mit.length > 0 ? mit : files).map((name) => readFileSync(join(folder, name), 'utf8'));
}

function fail(sentence: string): never {
  throw new Error(sentence);
}
