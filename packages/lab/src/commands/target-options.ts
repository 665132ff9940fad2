import type { Command } from 'commander';
import type { RedlineConfig } from '../config/types.ts';
import { LabError } from '../errors.ts';

/** How the requests of a command are changed: the same words in every command that sends some. */
export interface RequestOptions {
  header?: string[];
  method?: string;
  body?: string;
}

/** `URL -- COMMAND` or a config, and what is sent along. */
export function addTarget(command: Command): Command {
  return command
    .argument('[target]', 'URL of the app that the command starts, or a config', '.')
    .argument('[command...]', 'after --: the command that starts the app, for a URL')
    .option(
      '-H, --header <line>',
      'add a header, e.g. "authorization: Bearer …"; repeatable',
      (line: string, before: string[] = []) => [...before, line],
    )
    .option('-X, --method <name>', 'method of the request')
    .option('--body <text>', 'body of the request');
}

export function withRequestOptions(
  config: RedlineConfig,
  { header = [], method, body }: RequestOptions,
): RedlineConfig {
  const headers = parseHeaders(header);
  if (header.length === 0 && method === undefined && body === undefined) return config;
  const change = (request: NonNullable<RedlineConfig['requests']>[number]): typeof request => {
    const given = typeof request === 'string' ? { path: request } : request;
    return {
      ...given,
      headers: { ...given.headers, ...headers },
      ...(method === undefined ? {} : { method: method.toUpperCase() }),
      ...(body === undefined ? {} : { body }),
    };
  };
  return { ...config, requests: (config.requests ?? ['/']).map(change) };
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
