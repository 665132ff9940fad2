import { LabError } from '../errors.ts';
import type { RedlineConfig, RequestConfig } from './types.ts';

/** The request options of the command line, in the same words for every command that sends requests. */
export interface RequestOptions {
  request?: string;
  header?: string[];
  method?: string;
  body?: string;
  connections?: number;
  /** An access log. */
  replay?: string;
  /** Uses only the requests of this route, as `redline top` writes it. */
  route?: string;
}

/** @throws {LabError} ERR_REDLINE_OPTION */
export function withRequestOptions(config: RedlineConfig, options: RequestOptions): RedlineConfig {
  refuseContradictions(options);
  const { request, header = [], method, body } = options;
  if ([request, method, body].every((each) => each === undefined) && header.length === 0) {
    return config;
  }
  const change = (requests: readonly (string | RequestConfig)[]): RequestConfig[] =>
    chosen(requests.map(written), request).map((each) => changed(each, options));
  const groups = Object.entries(config.groups ?? {}).map(([name, group]) => [
    name,
    group.requests === undefined ? group : { ...group, requests: change(group.requests) },
  ]);
  const { replay, ...load } = config.load ?? {};
  return {
    ...config,
    ...(config.groups === undefined ? {} : { groups: Object.fromEntries(groups) }),
    // A named request also replaces a log.
    load: replay === undefined || request !== undefined ? load : { ...load, replay },
    requests: change(config.requests ?? ['/']),
  };
}

function written(request: string | RequestConfig): RequestConfig {
  return typeof request === 'string' ? { path: request } : request;
}

/** Returns the requests with this path, or a new one with the headers of the first. */
function chosen(requests: readonly RequestConfig[], path: string | undefined): RequestConfig[] {
  if (path === undefined) return [...requests];
  if (!path.startsWith('/')) {
    throw new LabError('ERR_REDLINE_OPTION', `--request "${path}" does not begin with "/".`);
  }
  const known = requests.filter((each) => each.path === path);
  return known.length > 0 ? known : [{ path, headers: requests[0]?.headers ?? {} }];
}

function changed(
  request: RequestConfig,
  { header = [], method, body }: RequestOptions,
): RequestConfig {
  return {
    ...request,
    headers: { ...request.headers, ...parseHeaders(header) },
    ...(method === undefined ? {} : { method: method.toUpperCase() }),
    ...(body === undefined ? {} : { body }),
  };
}

function refuseContradictions({ replay, request, method, body }: RequestOptions): void {
  if (replay === undefined) return;
  for (const [option, value] of Object.entries({ request, method, body })) {
    if (value === undefined) continue;
    throw new LabError(
      'ERR_REDLINE_OPTION',
      `--${option} is for one request, but --replay brings its own: omit one of them.`,
    );
  }
}

/** @throws {LabError} ERR_REDLINE_OPTION */
export function parseHeaders(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      if (colon < 1) {
        throw new LabError(
          'ERR_REDLINE_OPTION',
          `-H "${line}" is not a header; write it as "name: value".`,
        );
      }
      return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}
