import { readdirSync, existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// Shipped with the package: `dist/` only contains code.
const source = new URL('../src/', import.meta.url);

/** Returns the folders of all rules and myths by name, each with `proof.cjs`, `evidence.json` and `page.md`. */
export function adviceFolders(): Map<string, URL> {
  const all = ['rules', 'myths'].flatMap((kind) =>
    readdirSync(new URL(kind, source))
      .filter((name) => /^[a-z-]+$/.test(name))
      .map((name): [string, URL] => [name, new URL(`${kind}/${name}/`, source)]),
  );
  return new Map(all.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Returns the file with the proof of a rule or a myth: CommonJS with `before`, `after` and `inputs`, for `redline prove`. Undefined
 * for an unknown name.
 */
export function proofFile(rule: string): string | undefined {
  const folder = adviceFolders().get(rule);
  return folder && fileURLToPath(new URL('proof.cjs', folder));
}

/** Returns the names of all proofs: those of all rules, and of the myths. */
export function provenRules(): string[] {
  return [...adviceFolders().keys()];
}

/** The measurements of `redline prove` for one rule or myth: the `evidence.json` in its folder. */
export interface Evidence {
  schema: 1;
  rule: string;
  /** Source of the reported code, and of the suggested code. */
  before: string;
  after: string;
  /** Difference between the results, if any. Such a rule only suggests. */
  changesResult?: string;
  /** Oldest runtime first, one for each major version. */
  measurements: Measurement[];
}

/** Result for one runtime. */
export interface Measurement {
  /** Version of Node, e.g. `24.21.0`. */
  node: string;
  v8: string;
  /** `own loop`, or `mitata 1.0.34` in earlier measurements. */
  timer: string;
  /** Time before divided by time after, with its 95 % interval: above 1 the advice pays. */
  ratio: { value: number; low: number; high: number };
  /** Compared with ± 30 %: entirely outside; around 1 and entirely inside; neither. */
  verdict: 'changed' | 'same' | 'unresolved';
  /** Nanoseconds per call, median. */
  beforeNanos: number;
  afterNanos: number;
  restarts: number;
  blocks: number;
  seed: number;
  /** e.g. `AMD EPYC, 2 cores, Linux 6.12.0 x64`. */
  machine: string;
  /** Date, ISO 8601. */
  measuredOn: string;
}

/** Reads all evidence shipped with the package, by rule. */
export function readEvidence(): Map<string, Evidence> {
  const files = [...adviceFolders().values()].map((folder) => new URL('evidence.json', folder));
  const all = files
    // Skips rules that were never proved: their proof has to run first.
    .filter((file) => existsSync(file))
    .map((file) => JSON.parse(readFileSync(file, 'utf8')) as Evidence);
  return new Map(all.map((evidence) => [evidence.rule, evidence]));
}

/**
 * Status of a rule, derived from its evidence. `on`: it pays on every measured Node. `gated`: on some of them. `refuted`: on none;
 * such advice has no rule and is a myth: proof, evidence and page. A status is never set by hand.
 */
export type Status = 'on' | 'gated' | 'refuted';

/** True if faster by more than 30 %, over the whole interval: smaller gains are negligible in any program. */
export function pays({ verdict, ratio }: Measurement): boolean {
  return verdict === 'changed' && ratio.value > 1;
}

/** True if slower by more than 30 %, over the whole interval. */
export function costs({ verdict, ratio }: Measurement): boolean {
  return verdict === 'changed' && ratio.value < 1;
}

export function statusOf({ measurements }: Pick<Evidence, 'measurements'>): Status {
  const paying = measurements.filter(pays).length;
  if (paying === 0) return 'refuted';
  return paying === measurements.length ? 'on' : 'gated';
}

/**
 * True if the advice pays on a major version of Node. A version that was not measured is assumed to be like its measured neighbours
 * if they agree, and not to pay if they differ.
 */
export function paysOn({ measurements }: Pick<Evidence, 'measurements'>, major: number): boolean {
  const same = measurements.find((each) => majorOf(each) === major);
  if (same !== undefined) return pays(same);
  const older = measurements.findLast((each) => majorOf(each) < major);
  const newer = measurements.find((each) => majorOf(each) > major);
  const neighbours = [older, newer].filter((each) => each !== undefined);
  return neighbours.length > 0 && neighbours.every(pays);
}

export function majorOf({ node }: Pick<Measurement, 'node'>): number {
  return Number(node.split('.', 1)[0]);
}
