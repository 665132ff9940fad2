import { diag, type Attributes } from '@opentelemetry/api';
import { diagLogLevelFromString } from '@opentelemetry/core';
import { readConfig } from './config/config.ts';
import { readResource } from './config/resource.ts';
import { findAddon } from './native/addon.ts';
import { startWithAddon } from './start-with-addon.ts';
import { startWithSdk } from './start-with-sdk.ts';
import type { Telemetry } from './telemetry.ts';

export interface StartOptions {
  /** Attributes of the resource, besides those of the environment. */
  readonly resourceAttributes?: Attributes;
}

/** Every copy of this package in this thread knows it. */
const kStarted = Symbol.for('redline.telemetry.started');
const shared = globalThis as { [kStarted]?: Telemetry | undefined };

/**
 * Starts the telemetry that the `OTEL_*` variables ask for; once per thread. Later calls return the same.
 *
 * @throws TelemetryError if a variable has an unknown value, or if another SDK is registered with `@opentelemetry/api`
 */
export function start(options: StartOptions = {}): Telemetry {
  const telemetry = shared[kStarted];
  if (telemetry !== undefined) return telemetry;
  const started = startNow(options);
  const handle: Telemetry = {
    ...started,
    async shutdown() {
      if (shared[kStarted] !== handle) return;
      shared[kStarted] = undefined;
      await started.shutdown();
    },
  };
  shared[kStarted] = handle;
  return handle;
}

function startNow({ resourceAttributes }: StartOptions): Telemetry {
  const config = readConfig();
  if (config.isDisabled || (config.traces.length === 0 && config.metrics.length === 0)) return none;
  if (config.logLevel !== undefined) logToStderr(config.logLevel);
  const resource = readResource(config.detectors, resourceAttributes);
  const addon = config.traces.includes('console')
    ? 'OTEL_TRACES_EXPORTER has console'
    : findAddon();
  return typeof addon === 'string'
    ? startWithSdk(config, resource, addon)
    : startWithAddon(addon, config, resource);
}

const none: Telemetry = {
  async forceFlush() {},
  async shutdown() {},
  prometheusText: async () => '',
};

/** Writes nothing to stdout, which is the program's. */
function logToStderr(level: string): void {
  const log = (...message: unknown[]): void => console.error(...message);
  const logger = { verbose: log, debug: log, info: log, warn: log, error: log };
  diag.setLogger(logger, {
    logLevel: diagLogLevelFromString(level)!,
    suppressOverrideMessage: true,
  });
}
