import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify';
import { serverFactory } from '@redline/http';

/** What a test asks of a Fastify: the answers must be the same on both engines. */
export type Application = (app: FastifyInstance) => Promise<(base: string) => Promise<unknown>>;

export const engines: Record<'node' | 'redline', () => FastifyServerOptions> = {
  node: () => ({}),
  redline: () => ({ serverFactory }) as FastifyServerOptions,
};

/** Builds the application on an engine, listens, asks, closes. */
export async function run(build: Application, engine: keyof typeof engines): Promise<unknown> {
  const app = Fastify({ ...engines[engine](), forceCloseConnections: true }) as FastifyInstance;
  try {
    const answers = await build(app);
    await app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = app.server.address() as AddressInfo;
    return mask(await answers(`http://127.0.0.1:${port}`), port);
  } finally {
    await app.close();
  }
}

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export async function ask(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, { redirect: 'manual', ...init });
  const { date: _, ...headers } = Object.fromEntries(response.headers);
  return { status: response.status, headers, body: await response.text() };
}

const require = createRequire(import.meta.url);

/** A plugin, and the functions that come with it. */
// oxlint-disable-next-line typescript/no-explicit-any -- Twenty packages; some type their own options, some do not.
export function load(name: string): any {
  return require(name);
}

function mask(facts: unknown, port: number): unknown {
  return JSON.parse(JSON.stringify(facts ?? null).replaceAll(String(port), 'PORT'));
}
