// Prints the code metrics of the repository as a table: `npm run house`; `npm run house -- --list` lists each function
// beyond a limit. Functions are counted by oxlint in TypeScript and by a scan of the braces in Rust; tests and generated
// files are excluded.
import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { table } from '../benchmarks/tables/format.ts';
import { rustFunctions } from './rust-functions.ts';

const root = join(import.meta.dirname, '..');
const maxParameters = 4;
const maxLines = 50;
/** Max lines of a file that is one idea, or half of one. */
const shortFile = 40;

/** A function beyond a limit, or an import cycle. */
interface Finding {
  readonly kind: 'parameters' | 'lines' | 'cycle';
  /** `file:line`, relative to the root. */
  readonly place: string;
  readonly message: string;
}

interface Room {
  /** Relative to the root, such as `packages/http`. */
  readonly folder: string;
  /** Lines of each source file, in ascending order. */
  readonly lengths: readonly number[];
  readonly commentShare: number;
  /** Lines of tests per line of source. */
  readonly testShare: number;
  readonly findings: readonly Finding[];
}

/** Measures every package and crate, with its findings. */
function measureHouse(): Room[] {
  const findings = [...lintPackages(), ...lintCrates()];
  return ['packages/*', 'crates/*']
    .flatMap((pattern) => globSync(pattern, { cwd: root }).toSorted())
    .map((folder) => {
      const files = globSync(`${folder}/{src,test,tests}/**/*.{ts,mts,cts,rs}`, { cwd: root })
        .filter((file) => !leftOut.test(file))
        .map(partsOf);
      const lines = files.flatMap(({ code }) => code);
      return {
        folder,
        lengths: files
          .map(({ code }) => code.length)
          .filter((length) => length > 0)
          .toSorted((a, b) => a - b),
        commentShare: lines.filter((line) => /^\s*(?:\/\/|\/?\*)/.test(line)).length / lines.length,
        testShare: files.flatMap(({ tests }) => tests).length / lines.length,
        findings: findings.filter(({ place }) => place.startsWith(`${folder}/`)),
      };
    })
    .filter(({ lengths }) => lengths.length > 0);
}

/** Generated files, and fixtures that are bad on purpose. */
const leftOut = /\/fixtures\/|\.generated\.|\/wire\.ts$|\.d\.[cm]?ts$/;
const isTest = /\/tests?\/|\.test\.ts$|\/tests\.rs$/;

/** Returns lines of code and of tests, which share a file in Rust. */
function partsOf(file: string): { code: string[]; tests: string[] } {
  const text = readFileSync(join(root, file), 'utf8').trimEnd();
  if (isTest.test(file)) return { code: [], tests: text.split('\n') };
  const lines = text.split('\n');
  const end = file.endsWith('.rs')
    ? lines.findIndex((line, at) => line === '#[cfg(test)]' && /^mod \w+ \{/.test(lines[at + 1]!))
    : -1;
  return end < 0
    ? { code: lines, tests: [] }
    : { code: lines.slice(0, end), tests: lines.slice(end) };
}

interface Diagnostic {
  code: string;
  filename: string;
  message: string;
  labels: { span: { line: number } }[];
}

const kinds: Record<string, Finding['kind']> = {
  'eslint(max-params)': 'parameters',
  'eslint(max-lines-per-function)': 'lines',
  'import(no-cycle)': 'cycle',
};

function lintPackages(): Finding[] {
  const folder = mkdtempSync(join(tmpdir(), 'redline-house-'));
  try {
    const config = join(folder, 'oxlint.json');
    const rules = {
      'max-params': ['error', { max: maxParameters }],
      'max-lines-per-function': ['error', { max: maxLines }],
      'import/no-cycle': ['error', { ignoreTypes: false }],
    };
    const settings = { plugins: ['import'], categories: { correctness: 'off' }, rules };
    writeFileSync(config, JSON.stringify(settings));
    return diagnosticsOf(config)
      .filter(({ filename }) => !isTest.test(filename))
      .map(({ code, filename, labels: [label], message }) => ({
        kind: kinds[code]!,
        place: `${filename}:${label!.span.line}`,
        message: message.replace(/ Maximum allowed is \d+\./, ''),
      }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function diagnosticsOf(config: string): Diagnostic[] {
  const oxlint = join(root, 'node_modules/oxlint/bin/oxlint');
  const sources = globSync('packages/*/src', { cwd: root });
  const args = ['-c', config, '--disable-nested-config', '--format', 'json', ...sources];
  // oxlint exits with 1 if it has findings.
  const shell = `"$0" "$@" || [ $? = 1 ]`;
  const output = execFileSync('sh', ['-c', shell, process.execPath, oxlint, ...args], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  return (JSON.parse(output) as { diagnostics: Diagnostic[] }).diagnostics;
}

function lintCrates(): Finding[] {
  return globSync('crates/*/src/**/*.rs', { cwd: root }).flatMap((file) =>
    rustFunctions(partsOf(file).code.join('\n')).flatMap(({ name, line, lines, parameters }) => {
      const finding = (kind: Finding['kind'], count: number): Finding => ({
        kind,
        place: `${file}:${line}`,
        message: `The function \`${name}\` has too many ${kind} (${count}).`,
      });
      return [
        ...(parameters > maxParameters ? [finding('parameters', parameters)] : []),
        ...(lines > maxLines ? [finding('lines', lines)] : []),
      ];
    }),
  );
}

/** Result files are committed with every new figure, and read in diffs. */
function linesOfResults(): string {
  const files = globSync('benchmarks/results/**/*.json', { cwd: root });
  const lines = files.reduce((sum, file) => sum + partsOf(file).code.length, 0);
  return `Results of benchmarks: ${lines.toLocaleString('en')} lines of JSON in ${files.length} files.`;
}

function quantile(ascending: readonly number[], share: number): number {
  return ascending[Math.min(ascending.length - 1, Math.floor(share * ascending.length))]!;
}

function houseTable(rooms: readonly Room[]): string {
  const count = (room: Room, kind: Finding['kind']): string =>
    String(room.findings.filter((each) => each.kind === kind).length);
  const rowOf = (room: Room): string[] => [
    room.folder,
    ...[
      room.lengths.length,
      room.lengths.reduce((sum, lines) => sum + lines, 0),
      quantile(room.lengths, 0.5),
      quantile(room.lengths, 0.95),
      room.lengths.at(-1)!,
      room.lengths.filter((lines) => lines <= shortFile).length,
    ].map((figure) => figure.toLocaleString('en')),
    count(room, 'lines'),
    count(room, 'parameters'),
    room.folder.startsWith('crates/') ? '–' : count(room, 'cycle'),
    `${Math.round(room.commentShare * 100)} %`,
    room.testShare.toFixed(2),
  ];
  const all = rooms.flatMap(({ findings }) => findings);
  const packages = rooms.filter(({ folder }) => folder.startsWith('packages/'));
  const inPackages = packages.flatMap(({ findings }) => findings);
  const total = (kind: Finding['kind']): string =>
    `${inPackages.filter((each) => each.kind === kind).length} in packages, ${all.filter((each) => each.kind === kind).length} with crates`;
  return `${table(
    [
      'src of',
      'files',
      'lines',
      'median',
      'p95',
      'longest',
      `≤ ${shortFile} lines`,
      `functions > ${maxLines} lines`,
      `> ${maxParameters} parameters`,
      'import cycles',
      'comments',
      'tests ÷ code',
    ],
    rooms.map(rowOf),
  )}

Functions over ${maxLines} lines: ${total('lines')}. With more than ${maxParameters} parameters: ${total('parameters')}. Import cycles, types included: ${inPackages.filter(({ kind }) => kind === 'cycle').length}.
${linesOfResults()}
`;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { list: { type: 'boolean', default: false } } });
  const rooms = measureHouse();
  const findings = rooms.flatMap((room) => room.findings);
  process.stdout.write(
    values.list
      ? findings.map(({ place, message }) => `${place}: ${message}\n`).join('')
      : houseTable(rooms),
  );
}
