// `npm run bench -- SCENARIO [options of redline bench]`: runs benchmarks/scenarios/SCENARIO.ts.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';

const folder = join(import.meta.dirname, 'scenarios');
const scenarios = readdirSync(folder)
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.slice(0, -'.ts'.length))
  .toSorted();
const [scenario, ...options] = process.argv.slice(2);

if (scenario === undefined || !scenarios.includes(scenario)) {
  const asked = scenario === undefined ? '' : `There is no scenario "${scenario}". `;
  process.stderr.write(
    `${asked}Usage: npm run bench -- SCENARIO [--quick] [--json FILE]\nScenarios: ${scenarios.join(', ')}\n`,
  );
  process.exit(2);
}

// Relative: the result file keeps the command line, and is committed.
const config = relative('.', join(folder, `${scenario}.ts`));
const child = spawn('redline', ['bench', config, ...options], {
  stdio: 'inherit',
});
// In a terminal the signal reaches redline as well; it stops everything in order, and this process waits for that.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => child.kill(signal));
}
child.on('exit', (code) => process.exit(code ?? 1));
