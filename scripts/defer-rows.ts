// What the tables of deferred work read from a result in the same way.
import type { GridResult, GridVariant } from '../benchmarks/defer-grid/grid-result.ts';

export function isThere(result: GridResult, name: string): boolean {
  return result.variants.some((variant) => variant.name === name);
}

export function rpm({ rps }: GridVariant): string {
  return (rps * 60).toFixed(0).replaceAll(/\B(?=(\d{3})+$)/g, ' ');
}

/** Of the closed loop. */
export function latencyMs({ rps }: GridVariant, connections: number): string {
  return ((connections / rps) * 1_000).toFixed(1);
}

/** Drawn twice: text in a picture shrinks with it. */
export function picture(path: string, alt: string): string {
  return `<picture><source media="(max-width: 600px)" srcset="${path}-narrow.svg"><img src="${path}.svg" alt="${alt}"></picture>`;
}

/** The least and the most, or the one that both are. */
export function span(values: readonly number[]): string {
  return [...new Set([Math.min(...values), Math.max(...values)])].join(' to ');
}
