import type { RedlineConfig } from './config/types.ts';

export type {
  GroupConfig,
  LoadConfig,
  PrecisionConfig,
  RedlineConfig,
  RequestConfig,
  ServerUnderTest,
  SetupResult,
  VariantConfig,
} from './config/types.ts';
export { LabError, type LabErrorCode } from './errors.ts';
export type {
  BenchResult,
  GroupFacts,
  MeasuredVariant,
  PrecisionFacts,
  SkippedVariant,
  Slice,
} from './bench/result.ts';
export type { RunFacts } from './report/run-facts.ts';
export type { Comparison, Interval, LoadFacts, MachineFacts, Probe, Verdict } from './figures.ts';
export { bandOf, judge } from './stats/verdict.ts';
export { estimateRun, type RunEstimate } from './bench/run-time.ts';
export { compareSlices, ratioBetween, type SliceComparison } from './bench/compare-slices.ts';
export type { TryResult, TryVerdict } from './try/result.ts';
export { renderTryTerminal } from './try/report/try-document.ts';
export { isMeasured } from './bench/result.ts';
export { formatResult } from './command/format-result.ts';
export { renderHtmlChart } from './bench/report/html-chart.ts';
export { renderSvg } from './bench/report/svg-chart.ts';
export type { Runtime } from './runtimes/cache.ts';
export { obtainRuntime, type ObtainOptions } from './runtimes/obtain.ts';
export { parseRuntime, type RuntimeSpec } from './runtimes/spec.ts';
export type { RouteCost, TopResult } from './access-log/top.ts';
export type { DoctorResult, Finding, Sure, Waits } from './doctor/result.ts';
export type { CallGroup, CallsOfCaller, CallsSummary, CallTimes } from './calls-out/result.ts';
export type { DeoptFunction, DeoptSite, DeoptsResult } from './deopts/result.ts';
export type { FlameFunction, FlameNode, FlameResult } from './flame/result.ts';
export type { HeapResult, HeapSite, HeapVerdict } from './heap/result.ts';

/**
 * Gives a config its type.
 *
 * @example
 * export default defineConfig({
 *   name: 'my-api',
 *   requests: ['/users/1'],
 *   variants: [
 *     { name: 'now', command: 'node dist/main.js' },
 *     { name: 'node 26', command: 'npx -y node@26 dist/main.js' },
 *   ],
 * });
 */
export function defineConfig(config: RedlineConfig): RedlineConfig {
  return config;
}
