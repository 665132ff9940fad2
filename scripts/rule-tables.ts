// The texts about the evidence in the README and the pages of @redline/eslint-plugin.
import plugin, {
  type Evidence,
  majorOf,
  type Measurement,
  pays,
  readEvidence,
  type Status,
  statusOf,
} from '@redline/eslint-plugin';
import { table } from '../benchmarks/tables/format.ts';

export { readEvidence };

const all = [...readEvidence().values()];
const order: Status[] = ['on', 'gated'];

/** Lists every rule with its gain on each measured Node, sorted by status. */
export function ruleTable(): string {
  const rules = all.filter(({ rule }) => isRule(rule));
  const sorted = rules.toSorted((a, b) => order.indexOf(statusOf(a)) - order.indexOf(statusOf(b)));
  return gains(sorted, ['rule', 'status'], (evidence) => [
    `[\`${evidence.rule}\`](${pageOf(evidence.rule)})`,
    statusText(evidence),
  ]);
}

/** Lists the proofs without a rule. */
export function mythTable(): string {
  const myths = all.filter(({ rule }) => !isRule(rule));
  return gains(myths, ['myth'], ({ rule }) => [`[\`${rule}\`](${pageOf(rule)})`]);
}

/** Relative to the folder of the package. */
export function pageOf(name: string): string {
  return `src/${isRule(name) ? 'rules' : 'myths'}/${name}/page.md`;
}

function isRule(name: string): boolean {
  return plugin.rules[name] !== undefined;
}

function gains(
  rows: readonly Evidence[],
  head: string[],
  namesOf: (evidence: Evidence) => string[],
): string {
  const majors = [...new Set(rows.flatMap(({ measurements }) => measurements.map(majorOf)))];
  majors.sort((a, b) => a - b);
  const cells = rows.map((evidence) => [
    ...namesOf(evidence),
    ...majors.map((major) => {
      const found = evidence.measurements.find((each) => majorOf(each) === major);
      return found === undefined ? '–' : gainText(found);
    }),
    marks(evidence),
  ]);
  const columns = [...head, ...majors.map((major) => `Node ${major}`), ''];
  return `${table(columns, cells)}\n\n${measuredText(rows)}`;
}

/** Formats the evidence of one rule or myth for its page. */
export function evidenceText(evidence: Evidence): string {
  const rows = evidence.measurements.map((each) => [
    each.node,
    each.v8.replace(/-node.*/, ''),
    `${nanos(each.beforeNanos)} → ${nanos(each.afterNanos)}`,
    gainText(each),
    verdictText(each),
    each.timer,
  ]);
  const head = ['Node', 'V8', 'before → after', '×', 'verdict', 'timed with'];
  const changes =
    evidence.changesResult === undefined
      ? ''
      : `\n**Changes the result**: ${evidence.changesResult}. \`--fix\` does not rewrite it.\n`;
  return `**${statusText(evidence)}** ${marks(evidence)}\n${changes}\n${code('Before', evidence.before)}\n\n${code('After', evidence.after)}\n\n${table(head, rows)}\n\n${measuredText([evidence])}`;
}

function statusText(evidence: Evidence): string {
  const status = statusOf(evidence);
  if (status !== 'gated') return status;
  return `gated: ${evidence.measurements.filter(pays).map(majorOf).join(', ')}`;
}

function marks({ rule, changesResult }: Evidence): string {
  const isFixed = plugin.rules[rule]?.meta?.fixable !== undefined;
  return [isFixed ? '🔧' : '', changesResult === undefined ? '' : '≠'].join(' ').trim();
}

function gainText(measurement: Measurement): string {
  const { value, low, high } = measurement.ratio;
  const decimals = high < 10 ? 2 : high < 100 ? 1 : 0;
  const [text, from, to] = [value, low, high].map((each) => each.toFixed(decimals));
  return `${pays(measurement) ? `**${text}**` : text} [${from}, ${to}]`;
}

function verdictText({ verdict, ratio }: Measurement): string {
  if (verdict !== 'changed') return verdict;
  return ratio.value > 1 ? '▲ changed' : '▼ changed';
}

function nanos(value: number): string {
  if (value >= 1_000) return `${(value / 1_000).toFixed(value >= 10_000 ? 0 : 1)} µs`;
  return `${value.toFixed(value < 10 ? 1 : 0)} ns`;
}

function measuredText(measured: readonly Evidence[]): string {
  const measurements = measured.flatMap((each) => each.measurements);
  const days = [...new Set(measurements.map(({ measuredOn }) => measuredOn))].toSorted();
  const machines = [...new Set(measurements.map(({ machine }) => machine))];
  const restarts = measurements.map((each) => each.restarts);
  const blocks = measurements.map((each) => each.blocks);
  return `Measured ${days.join(', ')} on ${machines.join('; ')}; ${span(restarts)} restarts × ${span(blocks)} blocks of each side.`;
}

function span(values: readonly number[]): string {
  const [min, max] = [Math.min(...values), Math.max(...values)];
  return min === max ? String(min) : `${min}–${max}`;
}

function code(title: string, source: string): string {
  return `${title}:\n\n\`\`\`js\n${source}\n\`\`\``;
}
