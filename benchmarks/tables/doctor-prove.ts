import type { DoctorProve } from '../proofs/doctor-prove.ts';
import { ratioText, table } from './format.ts';

type Run = DoctorProve['runs'][number];

const titles: Readonly<Record<string, string>> = {
  'legacy-http': '[The old server](legacy-http.md)',
  'cached-api': 'Rung 00 of [the ladder](../../examples/cached-api/README.md)',
};

const words: Readonly<Record<string, string>> = {
  gains: 'gains',
  nothing: 'gains nothing',
  loses: 'loses',
  unresolved: 'unresolved',
  withheld: 'withheld: the noise of its run was too great',
};

/** Findings and proofs of `doctor --prove`, unaided, in two apps of examples/: for docs/guide/doctor.md. */
export function doctorProveText({ runs, machine }: DoctorProve): string {
  const { cpuModel, cores, node } = machine as { cpuModel: string; cores: number; node: string };
  return [
    ...runs.map(ofApp),
    [
      `Measured ${runs.at(-1)!.startedAt.slice(0, 10)} on ${cores} cores (${cpuModel}), Node ${node.slice(1)}.`,
      '`npm run bench -- doctor-prove`; raw data: [doctor-prove.json](../../benchmarks/results/doctor-prove.json).',
    ].join('\n'),
  ].join('\n\n');
}

function ofApp(run: Run): string {
  const { app, findings, together, each, seconds } = run;
  const tried = findings.filter(({ proof }) => proof !== undefined);
  const gained = tried.filter(({ proof }) => proof!.word === 'gains').length;
  const minutes = Math.round(seconds / 60);
  const all =
    together?.cpu === undefined
      ? ''
      : ` Together they take ${ratioText(together.cpu).replace(' ×', ' times')} less CPU.`;
  const rows = tried.map(({ rule, line, proof }) => [
    `\`${rule}\``,
    String(line),
    ratioText(proof!.cpu),
    proof!.why === undefined ? words[proof!.word]! : failureText(proof!.why),
  ]);
  return [
    `${titles[app]}: ${findings.length} findings, ${tried.length} with a change, of which ${gained} gain, in ${minutes} minutes (\`--each ${each}\`).${all}`,
    table(['finding', 'line', '× less CPU alone', 'proof'], rows),
  ].join('\n\n');
}

/** Shortens a failure to fit into a table row. */
function failureText(why: string): string {
  if (why.startsWith('--test ')) return 'fails the tests';
  if (why.startsWith('--build ')) return 'does not build';
  return why.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').slice(0, 120);
}
