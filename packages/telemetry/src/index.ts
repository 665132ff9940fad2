/// <reference types="node" />
export { addSpanProcessor } from './api/registration.ts';
export type { SpanLimits } from './api/span-limits.ts';
