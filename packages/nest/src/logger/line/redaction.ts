import { optionError, refuseUnknown } from '../errors.ts';
import { DEFAULT_KEYS, type LineKeys } from './line-shape.ts';

/** pino's `redact`: paths, or paths with a censor. */
export type Redaction =
  | string[]
  | {
      paths: string[];
      censor?: string | ((value: unknown, path: string[]) => unknown);
      remove?: boolean;
    };

/** The paths that are redacted unless `redact: false` is given. */
export const DEFAULT_REDACTED_PATHS: readonly string[] = redactedPaths(DEFAULT_KEYS);

function redactedPaths({ req, res }: LineKeys): string[] {
  return [
    `${pathOf(req)}.headers.authorization`,
    `${pathOf(req)}.headers["proxy-authorization"]`,
    `${pathOf(req)}.headers.cookie`,
    `${pathOf(res)}.headers["set-cookie"]`,
  ];
}

function pathOf(key: string): string {
  return /^[\w$]+$/.test(key) ? key : `[${JSON.stringify(key)}]`;
}

/** Returns the default paths, under the names of the fields, and the user's, in pino's shape. */
export function mergeRedaction(
  redact: false | Redaction | undefined,
  keys: LineKeys,
): Redaction | undefined {
  if (redact === false) return undefined;
  const preset = redactedPaths(keys);
  if (redact === undefined) return preset;
  const paths = Array.isArray(redact) ? redact : redact?.paths;
  if (!Array.isArray(paths) || !paths.every((path) => typeof path === 'string')) {
    throw optionError('redact', redact, 'false, an array of paths or { paths, censor, remove }');
  }
  if (!Array.isArray(redact)) checkCensor(redact);
  const merged = [...preset, ...paths];
  return Array.isArray(redact) ? merged : { ...redact, paths: merged };
}

function checkCensor(redact: Exclude<Redaction, string[]>): void {
  refuseUnknown('redact', redact, { paths: true, censor: true, remove: true });
  const { censor, remove } = redact;
  if (censor !== undefined && typeof censor !== 'string' && typeof censor !== 'function') {
    throw optionError('redact.censor', censor, 'a string or a function of value and path');
  }
  if (remove !== undefined && typeof remove !== 'boolean') {
    throw optionError('redact.remove', remove, 'a boolean');
  }
}
