import { existsSync, readFileSync } from 'node:fs';
import { resolveRequest } from '../config/resolve-plan.ts';
import type { RequestConfig } from '../config/types.ts';
import { LabError } from '../errors.ts';
import { label } from '../servers/contract.ts';
import { actionIn } from './actions.ts';

/** One recorded exchange, from a browser or from `--record`. */
export interface Exchange {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string;
  status: number;
}

/** Requests of a recording, grouped by how they are treated. */
export interface Recording {
  requests: Required<RequestConfig>[];
  /** e.g. `POST /orders`: requests that may change data. */
  leftOut: string[];
}

interface HarFile {
  log?: {
    entries?: {
      request?: {
        url?: string;
        method?: string;
        headers?: { name: string; value: string }[];
        postData?: { text?: string };
      };
      response?: { status?: number };
    }[];
  };
}

/** @throws {LabError} ERR_REDLINE_OPTION if the file is missing or is not a recording */
export function readHar(file: string): Exchange[] {
  if (!existsSync(file)) throw wrong(`--har "${file}" does not exist.`);
  let read: HarFile;
  try {
    read = JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, '')) as HarFile;
  } catch (cause) {
    throw wrong(`--har "${file}" cannot be read: ${(cause as Error).message}.`);
  }
  const { entries } = read.log ?? {};
  if (!Array.isArray(entries)) {
    throw wrong(`--har "${file}" is not a HAR: it has no log.entries. Export one from a browser.`);
  }
  return entries.flatMap(({ request, response }) => {
    if (request?.url === undefined || !URL.canParse(request.url)) return [];
    const headers = (request.headers ?? []).map(({ name, value }) => [name.toLowerCase(), value]);
    return {
      url: request.url,
      method: (request.method ?? 'GET').toUpperCase(),
      headers: Object.fromEntries(headers) as Record<string, string>,
      body: request.postData?.text ?? '',
      status: response?.status ?? 0,
    };
  });
}

/** Headers of the connection, of another protocol, or of a cache of which the server under test has no copy. */
const dropped =
  /^(:.*|host|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade.*|content-length|expect|if-.*|range|sec-.*|priority)$/;
const reading = /^(GET|HEAD)$/;

/**
 * Selects the successful requests of the most frequent origin, in their order. Requests that may change data are left out unless
 * they are explicitly allowed.
 * @param allowed Methods, or routes such as `POST /search`.
 * @throws {LabError} ERR_REDLINE_OPTION if no request is left
 */
export function recordingOf(exchanges: readonly Exchange[], allowed: readonly string[]): Recording {
  const origin = busiestOrigin(exchanges);
  const own = exchanges.filter(
    ({ url, status, method }) =>
      new URL(url).origin === origin && status >= 200 && status < 400 && method !== 'OPTIONS',
  );
  const all = own.map(({ url, method, headers, body }) => {
    const { pathname, search } = new URL(url);
    const kept = Object.entries(headers).filter(([name]) => !dropped.test(name));
    return resolveRequest({
      method,
      path: pathname + search,
      headers: Object.fromEntries(kept),
      body: reading.test(method) ? '' : body,
    });
  });
  const isAllowed = (request: Required<RequestConfig>): boolean =>
    allowed.some((each) => each === request.method || each === pathLabel(request)) ||
    reads(request);
  const requests = all.filter(isAllowed);
  const leftOut = [...new Set(all.filter((each) => !isAllowed(each)).map(pathLabel))];
  if (requests.length === 0) {
    const others =
      leftOut.length === 0
        ? ''
        : ` ${leftOut.slice(0, 3).join(', ')} may change something; --allow POST, or --allow '${leftOut[0]}', sends it.`;
    throw wrong(`The recording has no request that only reads, and succeeded.${others}`);
  }
  return { requests, leftOut };
}

function pathLabel(request: Required<RequestConfig>): string {
  return label(request).replace(/\?.*$/, '');
}

/** True if a request appears to only read: a GET of a path that does not look like an action, or a GraphQL query. */
export function reads({ method, path, body }: Required<RequestConfig>): boolean {
  const [pathname = ''] = path.split('?');
  if (reading.test(method)) return actionIn(pathname) === undefined;
  if (method !== 'POST' || !body.trimStart().startsWith('{')) return false;
  try {
    const { query } = JSON.parse(body) as { query?: unknown };
    return typeof query === 'string' && !/\b(mutation|subscription)\b/.test(query);
  } catch {
    return false;
  }
}

function busiestOrigin(exchanges: readonly Exchange[]): string | undefined {
  const counts = new Map<string, number>();
  for (const { url } of exchanges) {
    const { origin } = new URL(url);
    counts.set(origin, (counts.get(origin) ?? 0) + 1);
  }
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0];
}

function wrong(message: string): LabError {
  return new LabError('ERR_REDLINE_OPTION', message);
}
