// The time each scenario takes, in full and with --quick, by its settings.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { estimateRun, type RedlineConfig, type RunEstimate } from '@redline/lab';

const folder = join(import.meta.dirname, 'scenarios');

export interface ScenarioTimes {
  name: string;
  full: RunEstimate;
  quick: RunEstimate;
}

/** Loads every scenario, some of which obtain what they compare; those that cannot be loaded here are returned with the reason. */
export async function scenarioTimes(
  cores?: number,
): Promise<(ScenarioTimes | { name: string; missing: string })[]> {
  const names = readdirSync(folder)
    .filter((file) => file.endsWith('.ts'))
    .map((file) => file.slice(0, -'.ts'.length))
    .toSorted();
  const times = [];
  for (const name of names) {
    try {
      const module = (await import(join(folder, `${name}.ts`))) as { default: RedlineConfig };
      const on = cores === undefined ? {} : { cores };
      const full = estimateRun(module.default, on);
      times.push({ name, full, quick: estimateRun(module.default, { quick: true, ...on }) });
    } catch (error) {
      times.push({ name, missing: (error as Error).message });
    }
  }
  return times;
}

/** Formats the times as a table in Markdown. */
export async function timesTable(): Promise<string> {
  const rows = (await scenarioTimes()).map((times) => {
    if ('missing' in times) return `| ${times.name} | not loaded: ${times.missing} | | |`;
    const { name, full, quick } = times;
    const all = quick.groups + quick.leftOut.length;
    const groups = all === 1 ? '' : `${quick.groups} of ${all}`;
    return `| ${name} | ${clock(full.seconds)} | ${clock(quick.seconds)} | ${groups} |`;
  });
  return `| scenario | in full | \`--quick\` | its groups |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`;
}

function clock(total: number): string {
  const rounded = Math.round(total);
  return `${Math.floor(rounded / 60)} m ${String(rounded % 60).padStart(2, '0')} s`;
}
