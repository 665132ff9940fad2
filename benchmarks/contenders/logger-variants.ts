// The variants of the scenario logger and the proof logger-loss, in the order of the table.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export const loggerServer: string = join(import.meta.dirname, 'logger/server.js');

/** Logger → description. */
export const loggerNotes: Record<string, string> = {
  none: 'no logger',
  redline: '`LoggerModule`, to a file',
  'redline-stdout': '`LoggerModule`, to stdout',
  'redline-nestjs-pino': '`@redline/nest/nestjs-pino`, synchronous',
  'nestjs-pino': 'nestjs-pino, synchronous',
  'pino-http': 'pino-http, synchronous',
  fastify: 'Fastify’s own, synchronous',
  'pino-sync': 'pino by hand, synchronous',
  'pino-async': 'pino by hand, asynchronous',
  'pino-transport': 'pino by hand, `pino.transport` (a worker thread)',
  winston: 'winston by hand',
};

/** Returns the loggers measured on a framework. */
export function loggersOn(framework: 'fastify' | 'express'): string[] {
  return Object.keys(loggerNotes).filter((name) => name !== 'fastify' || framework === 'fastify');
}

/** Returns the requests that have a line, by the number in their URL, and the number of lines that do not parse. */
export async function readLines(
  text: string | Promise<string>,
): Promise<{ numbers: number[]; torn: number; bytesPerLine: number }> {
  const numbers: number[] = [];
  let torn = 0;
  let bytes = 0;
  for (const line of (await text).split('\n')) {
    if (line === '') continue;
    try {
      const { url, req } = JSON.parse(line) as { url?: string; req?: { url?: string } };
      const number = /\?n=(\d+)/.exec(url ?? req?.url ?? '')?.[1];
      if (number === undefined) continue;
      numbers.push(Number(number));
      bytes += line.length + 1;
    } catch {
      torn += 1;
    }
  }
  return { numbers, torn, bytesPerLine: Math.round(bytes / numbers.length) };
}

/** Reads the file to which a server writes its lines; a missing file is empty. */
export function readLog(folder: string, framework: string, logger: string): Promise<string> {
  return readFile(join(folder, `${framework}-${logger}.log`), 'utf8').catch(() => '');
}
