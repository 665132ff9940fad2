export {
  costs,
  type Evidence,
  majorOf,
  type Measurement,
  pays,
  paysOn,
  proofFile,
  provenRules,
  readEvidence,
  type Status,
  statusOf,
} from './evidence.ts';
export { plugin as default, recommendedFor } from './plugin.ts';
export { attackText, type Danger, dangerOf } from './regexp/danger-of.ts';
