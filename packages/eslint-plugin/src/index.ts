export { type Evidence, type Measurement, readEvidence } from './evidence.ts';
export { plugin as default, recommendedFor } from './plugin.ts';
export { attackText, type Danger, dangerOf } from './regexp/danger-of.ts';
export { proofFile, provenRules } from './proofs.ts';
export { costs, majorOf, pays, paysOn, type Status, statusOf } from './status.ts';
