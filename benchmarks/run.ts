// `npm run bench -- NAME [options]`: benchmarks/scenarios/NAME.ts is a config for `redline bench`; benchmarks/proofs/NAME.ts
// is a program that supports a claim of this project.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';

const [scenarios, proofs] = ['scenarios', 'proofs'].map(namesIn) as [string[], string[]];
const [name, ...options] = process.argv.slice(2);
/** Variants of the scenario spawn. */
const syncVariants = ['node', 'posix-spawn', 'redline'].flatMap((module) => [
  `${module}/sync`,
  `${module}-resident/sync`,
]);
const realVariants = ['git', 'thumbnail'].flatMap((task) =>
  ['node', 'posix-spawn', 'redline'].map((module) => `${module}/${task}`),
);
const usage = `Usage: npm run bench -- SCENARIO [--quick] [--json FILE] [--continue]
       npm run bench -- --times

Scenarios  ${scenarios.join(', ')}
Proofs     ${proofs.join(', ')}

A scenario takes every option of \`redline bench\`. --quick takes three minutes or less, and leaves out groups of the long ones;
--times lists both times of each. Ctrl-C keeps the groups that are complete, and --continue measures the rest. What else to know:
  compressed-hits, files  download nginx if it is not installed
  cached-peers  the first run downloads and builds what it compares with
  defer-grid    all 18 cells of the article's grid, in 30 minutes or as many as --minutes says; a run that was cut goes on
  http          50 minutes; 26 with --restarts 3 --blocks 4
  spawn         25 minutes; its group sync alone, for results/spawn-sync.json, 3 minutes with
                --only ${syncVariants.join(',')};
                its groups git and thumbnail, for results/spawn-real.json, 7 minutes with --only
                ${realVariants.join(',')}

Proofs take options of their own:
  verdicts      10 minutes
  ci-compared   30 minutes, or as long as --minutes says
  ci-verdicts   5 minutes a run; --minutes bounds all
  verdicts-real 3 minutes a run; --minutes bounds all, --load 0.3 takes 30 % of a core meanwhile
  ladder-real   5 minutes a run; --minutes and --load as above
  doctor-prove  half an hour; --app names one of its two apps
  heap-leaks    20 minutes; --app leaks/timers.cjs measures one of its apps
  register      half a minute
  turn-shares   a second; takes recorded results, all of benchmarks/results if none is named
  stairs-async  two minutes a run; --minutes bounds all. --app express-sequelize --app nest-typeorm: the apps with an ORM, which
                need PostgreSQL and are installed by the first run
  top           10 minutes; 1 GB of disk, and GoAccess, which is downloaded if it is not installed
  logger-loss   6 minutes
`;

if (name === '--help' || name === '-h') {
  process.stdout.write(usage);
  process.exit(0);
}
if (name === '--times') {
  const { timesTable } = await import('./scenario-times.ts');
  process.stdout.write(await timesTable());
  process.exit(0);
}
if (name === undefined || ![...scenarios, ...proofs].includes(name)) {
  const asked = name === undefined ? '' : `Unknown scenario "${name}".\n\n`;
  process.stderr.write(`${asked}${usage}`);
  process.exit(2);
}

// A relative path, because the result file stores the command line, and is committed.
const fileOf = (kind: string): string =>
  relative('.', join(import.meta.dirname, kind, `${name}.ts`));
const [command, ...args] = proofs.includes(name)
  ? [process.execPath, fileOf('proofs')]
  : ['redline', 'bench', fileOf('scenarios')];
const child = spawn(command!, [...args, ...options], { stdio: 'inherit' });
// In a terminal the signal also reaches redline; it stops everything in order, and this process waits for it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => child.kill(signal));
}
child.on('exit', (code) => process.exit(code ?? 1));

function namesIn(kind: string): string[] {
  return readdirSync(join(import.meta.dirname, kind))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => file.slice(0, -'.ts'.length))
    .toSorted();
}
