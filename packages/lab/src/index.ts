export { defineConfig } from './config/define-config.ts';
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
  Comparison,
  GroupFacts,
  Interval,
  LoadFacts,
  MachineFacts,
  MeasuredVariant,
  PrecisionFacts,
  Probe,
  SkippedVariant,
  Slice,
  Verdict,
} from './result.ts';
export { compareSlices, ratioBetween, type SliceComparison } from './run/compare-slices.ts';
export { isMeasured } from './result.ts';
export { renderSvg } from './report/svg-chart.ts';
export type { Runtime } from './runtimes/cache.ts';
export { obtainRuntime, type ObtainOptions } from './runtimes/obtain.ts';
export { parseRuntime, type RuntimeSpec } from './runtimes/spec.ts';
export type { RouteCost, TopResult } from './access-log/top.ts';
export type { DeoptFunction, DeoptSite, DeoptsResult } from './deopts/result.ts';
export type { FlameFunction, FlameNode, FlameResult } from './flame/result.ts';
