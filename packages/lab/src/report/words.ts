import type { Interval, MachineFacts } from '../figures.ts';
import { about, type ColumnText, fixed, percent, plural, range } from './format.ts';
import { markup, type Markup } from './markup.ts';
import { type Estimate, type Reading, WORDS } from './reading.ts';

/** Renders the verdict word; its mark comes from the style sheet, so that screen readers do not read it. */
export function verdictWord(
  reading: Reading | 'skip',
  word: string = reading === 'skip' ? 'skipped' : WORDS[reading],
): Markup {
  return markup`<span class="v ${reading}">${word}</span>`;
}

/** Renders a figure of a column; the padding only applies in a column. */
export function padded(text: ColumnText | undefined): Markup {
  return markup`${text?.value}${text?.pad ? markup`<span class="pad">${text.pad}</span>` : undefined}`;
}

export function restartsHint(estimate: Estimate): string | undefined {
  const { reading, restartsToSettle } = estimate;
  if (reading !== 'unresolved' || restartsToSettle === undefined) return undefined;
  return `≈\u00a0${about(restartsToSettle)}\u00a0restarts`;
}

/** Formats `33.1 µs less CPU per request [32.0, 34.1]`. */
export function savedWords(saved: Interval, decimals: number, what: string): string {
  const less = saved.value >= 0;
  const size = less ? saved : { value: -saved.value, low: -saved.high, high: -saved.low };
  return `${fixed(size.value, decimals)}\u00a0µs ${less ? 'less' : 'more'} ${what} ${range(size, decimals)}`;
}

/** Formats an unresolved difference: both ends and no middle, `2.8 µs less to 1.1 µs more`. */
export function spanWords(saved: Interval, decimals: number): string {
  const end = (value: number): string =>
    `${fixed(Math.abs(value), decimals)}\u00a0µs ${value >= 0 ? 'less' : 'more'}`;
  return `${end(saved.high)} to ${end(saved.low)}`;
}

export function title(name: string, note: string | undefined): string {
  return note === undefined || note === '' ? name : `${name}, ${note}`;
}

/** Formats `2026-11-20 10:52 UTC`. */
export function dateOf(startedAt: string): string {
  const time = new Date(startedAt);
  if (Number.isNaN(time.getTime())) return startedAt;
  return `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

export function noiseText(noise: { cpu: number; rps: number }): string {
  return `±\u00a0${percent(noise.rps)} rps, ±\u00a0${percent(noise.cpu)} CPU`;
}

export function processorText({ cpuModel, cores }: MachineFacts): string {
  return `${cpuModel}, ${plural(cores, 'core')}`;
}

/** Lists the machine that the figures depend on. A fact that is not visible is marked as such. */
export function machineFacts(machine: MachineFacts): [name: string, value: string][] {
  const { memoryGiB, virtualisation, steal, kernel, governor, pinning } = machine;
  return [
    ['Machine', `${processorText(machine)}, ${fixed(memoryGiB)} GiB`],
    ['Virtualisation, steal', `${virtualisation}; ${stealText(steal)}`],
    ['Kernel, governor', `${kernel}; governor ${governor}`],
    ['Pinning', pinning],
  ];
}

export function stealText(steal: number | undefined): string {
  return steal === undefined ? 'steal not visible' : `${percent(steal)} steal`;
}
