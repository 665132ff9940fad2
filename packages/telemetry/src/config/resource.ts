import { readFileSync } from 'node:fs';
import type { Attributes } from '@opentelemetry/api';
import {
  defaultResource,
  detectResources,
  envDetector,
  hostDetector,
  osDetector,
  processDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
  type Resource,
  type ResourceDetector,
} from '@opentelemetry/resources';
import type { DetectorName } from './config.ts';

const detectorsByName: Readonly<Record<DetectorName, ResourceDetector | undefined>> = {
  host: hostDetector,
  os: osDetector,
  process: processDetector,
  service: serviceInstanceIdDetector,
  serviceinstance: serviceInstanceIdDetector,
  // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES are always read.
  env: undefined,
};

/**
 * Returns what produces the telemetry. All its attributes are known at once, unlike those of OpenTelemetry's own SDK, which
 * reads the machine's id later.
 *
 * @param own Attributes of the user's code, which win.
 */
export function readResource(names: readonly DetectorName[], own: Attributes = {}): Resource {
  const detectors = [...new Set(names.map((name) => detectorsByName[name]))];
  const detected = detectResources({ detectors: detectors.filter((each) => each !== undefined) });
  const machine = names.includes('host') ? machineId() : undefined;
  const settled = new Map<string, unknown>();
  for (const [key, value] of detected.getRawAttributes()) {
    if (!(value instanceof Promise)) settled.set(key, value);
  }
  if (machine !== undefined) settled.set('host.id', machine);
  return defaultResource()
    .merge(resourceFromAttributes(Object.fromEntries(settled) as Attributes))
    .merge(detectResources({ detectors: [envDetector] }))
    .merge(resourceFromAttributes(own));
}

/** Returns the machine's id on Linux, which the detector of the host reads asynchronously. */
function machineId(): string | undefined {
  for (const path of ['/etc/machine-id', '/var/lib/dbus/machine-id']) {
    try {
      return readFileSync(path, 'utf8').trim();
    } catch {
      // The next one, or none.
    }
  }
  return undefined;
}
