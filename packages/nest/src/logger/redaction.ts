import { optionError } from './errors.ts';

/** pino's `redact`: paths, or paths with a censor. */
export type Redaction =
  | string[]
  | {
      paths: string[];
      censor?: string | ((value: unknown, path: string[]) => unknown);
      remove?: boolean;
    };

/** The paths that are censored unless `redact: false` is given. */
export const DEFAULT_REDACTED_PATHS: readonly string[] = [
  'req.headers.authorization',
  'req.headers["proxy-authorization"]',
  'req.headers.cookie',
  'res.headers["set-cookie"]',
];

/** The default paths and the user's, in pino's shape. */
export function mergeRedaction(redact: false | Redaction | undefined): Redaction | undefined {
  if (redact === false) return undefined;
  if (redact === undefined) return [...DEFAULT_REDACTED_PATHS];
  const paths = Array.isArray(redact) ? redact : redact?.paths;
  if (!Array.isArray(paths) || !paths.every((path) => typeof path === 'string')) {
    throw optionError('redact', redact, 'false, an array of paths or { paths, censor, remove }');
  }
  const merged = [...DEFAULT_REDACTED_PATHS, ...paths];
  return Array.isArray(redact) ? merged : { ...redact, paths: merged };
}
