/// <reference types="node" />
export { addSpanProcessor } from './api/registration.ts';
export { telemetryErrorDocs, TelemetryError, type TelemetryErrorCode } from './errors.ts';
export { start, type StartOptions } from './start.ts';
export type { Telemetry } from './telemetry.ts';
