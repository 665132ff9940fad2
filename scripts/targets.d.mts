export interface Target {
  /** As in the name of its package: `linux-x64-gnu`. */
  readonly name: string;
  readonly package: string;
  readonly cpu: 'x64' | 'arm64';
  readonly libc: 'gnu' | 'musl';
  /** Its name in rustc. */
  readonly triple: string;
  /** Its number in the header of an ELF file. */
  readonly machine: number;
}

export declare const targets: readonly Target[];
export declare const publishedCrates: Readonly<Record<'http' | 'child-process', string>>;
export declare const crates: Readonly<Record<'http' | 'child-process' | 'telemetry', string>>;
