import { LabError } from '../errors.ts';

export type RuntimeKind = 'node' | 'bun' | 'deno';

/** A requested runtime: `node@10`, `bun@1.2.3`, `deno`. */
export interface RuntimeSpec {
  kind: RuntimeKind;
  /** As many version parts as were given, e.g. `10`, `1.2.3`; `latest` for the newest. */
  range: string;
}

/**
 * Parses `node@10`, `node10`, `10`, `v10.24.1`, `bun`, `bun@1.2`, `deno@2`.
 * @throws {LabError} ERR_REDLINE_OPTION
 */
export function parseRuntime(text: string): RuntimeSpec {
  const parts = /^(?:(node|bun|deno)?@?v?(\d+(?:\.\d+){0,2})|(node|bun|deno)(?:@latest)?)$/i.exec(
    text.trim(),
  );
  if (parts === null) {
    throw new LabError(
      'ERR_REDLINE_OPTION',
      `"${text}" is not a runtime; use e.g. node@24, 10, bun or deno@2.`,
    );
  }
  const [, kindOfRange, range, kindAlone] = parts;
  const kind = (kindOfRange ?? kindAlone ?? 'node').toLowerCase() as RuntimeKind;
  return { kind, range: range ?? 'latest' };
}

/** Formats as `node@10`, which `parseRuntime` reads. */
export function formatRuntime({ kind, range }: RuntimeSpec): string {
  return range === 'latest' ? kind : `${kind}@${range}`;
}

/** True if the version is in the range: `10.24.1` is in `10` and in `10.24`. */
export function satisfies(version: string, range: string): boolean {
  return range === 'latest' || version === range || version.startsWith(`${range}.`);
}

/** Compares versions, oldest first. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number));
  for (let part = 0; part < 3; part++) {
    const difference = (left![part] ?? 0) - (right![part] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
