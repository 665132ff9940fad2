import { createRequire } from 'node:module';

/** An attribute as the addon takes it: one of its values is set. */
export interface AddonAttribute {
  key: string;
  text?: string;
  number?: number;
  isTrue?: boolean;
  texts?: string[];
}

/** Settings of the collector: crates/telemetry_node describes them. */
export interface CollectorSettings {
  resource: AddonAttribute[];
  maxBytes: number;
  sampler: 'always_on' | 'always_off' | 'ratio';
  ratio: number;
  isParentBased: boolean;
  attributeCountLimit: number;
  attributeValueLengthLimit: number;
  redactedParameters: string[];
  boundaries: number[];
  isDelta: boolean;
}

/** The collector's counts since it was made. */
export interface CollectorCounts {
  spans: number;
  waitingSpans: number;
  waitingBytes: number;
  droppedSpans: number;
  lostRecords: number;
  requests: number;
}

/** The thread that reads rings, and makes spans and metrics of them. */
export interface Collector {
  addSource(engine: Uint32Array | undefined | null, own: Uint32Array): number;
  removeSource(source: number): void;
  wake(): void;
  drain(): void;
  takeSpans(maxBytes: number, maxSpans: number): Buffer | null;
  takeMetrics(): Buffer | null;
  prometheus(): string;
  counts(): CollectorCounts;
}

export interface Addon {
  readonly Collector: new (settings: CollectorSettings) => Collector;
}

/** Returns the addon, or one clause that says why it is not used. */
export function findAddon(): Addon | string {
  const { env, versions } = process;
  if (env['REDLINE_TELEMETRY'] === 'sdk') return 'REDLINE_TELEMETRY=sdk is set';
  if (versions['bun'] !== undefined) return 'Bun runs it';
  if (versions['deno'] !== undefined) return 'Deno runs it';
  try {
    const { loadAddon } = createRequire(import.meta.url)('../../native.cjs') as {
      loadAddon(): Addon;
    };
    return loadAddon();
  } catch (error) {
    return (error as Error).message.split('\n', 1)[0]!;
  }
}
