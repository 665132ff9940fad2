// Shared formatting of the tables of deferred work.
import type { GridResult, GridVariant } from '../benchmarks/defer-grid/grid-result.ts';

export function isThere(result: GridResult, name: string): boolean {
  return result.variants.some((variant) => variant.name === name);
}

export function rpm({ rps }: GridVariant): string {
  return (rps * 60).toFixed(0).replaceAll(/\B(?=(\d{3})+$)/g, ' ');
}

/** Latency of the closed loop. */
export function latencyMs({ rps }: GridVariant, connections: number): string {
  return ((connections / rps) * 1_000).toFixed(1);
}

/** Links both versions of a chart: text in a picture shrinks with it. */
export function picture(path: string, alt: string): string {
  return `<picture><source media="(max-width: 600px)" srcset="${path}-narrow.svg"><img src="${path}.svg" alt="${alt}"></picture>`;
}

/** Returns the min and the max, or one value if they are equal. */
export function span(values: readonly number[]): string {
  return [...new Set([Math.min(...values), Math.max(...values)])].join(' to ');
}
