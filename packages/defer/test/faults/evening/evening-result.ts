/** The committed file of `npm run faults:defer`. */
export interface EveningResult {
  readonly command: string;
  readonly startedAt: string;
  readonly machine: {
    readonly cores: number;
    readonly cpuModel: string;
    readonly kernel: string;
    readonly node: string;
  };
  readonly seed: number;
  /** The number of acknowledged jobs to reach. */
  readonly jobs: number;
  /** Without the controls. */
  readonly acknowledged: number;
  readonly lost: number;
  readonly trials: readonly EveningTrial[];
}

export interface EveningTrial {
  readonly kind: string;
  readonly platform: string;
  readonly level: string;
  readonly isSealed: boolean;
  readonly isControl: boolean;
  readonly seconds: number;
  /** Starts of the app, each ended by kill -9. */
  readonly lives: number;
  readonly faults: number;
  readonly acknowledged: number;
  readonly refused: number;
  readonly lost: number;
  readonly again: number;
  /** The reason why it was not run. */
  readonly missing?: string;
}
