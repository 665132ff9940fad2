export { defineConfig } from './config/define-config.ts';
export type {
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
  Interval,
  LoadFacts,
  MachineFacts,
  MeasuredVariant,
  PrecisionFacts,
  SkippedVariant,
  Slice,
  Verdict,
} from './result.ts';
export { isMeasured } from './result.ts';
export { renderSvg } from './report/svg-chart.ts';
