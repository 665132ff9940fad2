import { once } from 'node:events';
import type * as node from 'node:http';
import type { AddressInfo, ListenOptions } from 'node:net';
import { until } from '@redline/services/until';
import { talk, type Conversation, type Step } from './wire.ts';

/** What both engines offer. */
export type HttpModule = Pick<typeof node, 'createServer'>;

/** A behaviour: what it returns must be the same on both engines. */
export type Behaviours = Record<string, (http: HttpModule) => unknown>;

export type Options = node.ServerOptions;
export type Listener = node.RequestListener;

export class Serving implements AsyncDisposable {
  readonly server: node.Server;

  constructor(server: node.Server) {
    this.server = server;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  talk(...steps: Step[]): Promise<Conversation> {
    return talk(this.port, ...steps);
  }

  /** Resolves when no connection is left and its end has been told: a thread of the engine knows of it first. */
  async nobody(): Promise<void> {
    const count = () =>
      new Promise((resolve) => this.server.getConnections((_, open) => resolve(open)));
    while ((await count()) !== 0) await moment(5);
    await moment();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.server.listening) return;
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }
}

/** The types of Node lack it. */
export type Upgradable = node.IncomingMessage & { upgrade: boolean };

/** Listens on a free port of 127.0.0.1. */
export async function serve(
  http: HttpModule,
  options: Options,
  listener?: Listener,
  prepare: (server: node.Server) => void = () => {},
): Promise<Serving> {
  const server = http.createServer(options, listener);
  prepare(server);
  const address: ListenOptions = { port: 0, host: '127.0.0.1' };
  server.listen(address);
  await once(server, 'listening');
  return new Serving(server);
}

/** Starts, talks once, stops. */
export async function ask(
  http: HttpModule,
  listener: Listener,
  steps: readonly Step[],
  options: Options = {},
): Promise<Conversation> {
  await using serving = await serve(http, options, listener);
  return await serving.talk(...steps);
}

/** Resolves once nobody is connected. */
export async function untilNobody(server: node.Server): Promise<void> {
  await until('nobody is connected', async () => (await countConnections(server)) === 0);
}

/** Returns the number of connections that a server has. */
function countConnections(server: node.Server): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );
}

/** Resolves once the events that were already on their way have come. */
export function moment(ms = 20): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * A limit of so many ms that a slow machine may let pass before the client has done what is to be in time: then the attempt is
 * made again with twice as much. One that ends before its limit has passed is not the machine's doing.
 */
export async function withLimit<T>(
  ms: number,
  meet: (limit: number, wasInTime: () => void) => Promise<T>,
): Promise<T> {
  for (let limit = ms; ; limit *= 2) {
    let isInTime = false;
    const start = performance.now();
    const result = await meet(limit, () => (isInTime = true));
    if (isInTime || performance.now() - start < limit || limit > 4_000) return result;
  }
}

/** Every fact about an error that a program could look at; addresses and ports masked. */
export function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, code, syscall, errno, reason, bytesParsed } = error as Error &
    Record<string, unknown>;
  return {
    name,
    message: message.replaceAll(/:\d{4,5}\b/g, ':port'),
    className: error.constructor.name,
    isTypeError: error instanceof TypeError,
    isRangeError: error instanceof RangeError,
    ...defined({ code, syscall, errno, reason, bytesParsed }),
  };
}

/** What a call throws, or what it returns. */
export function attempt(call: () => unknown): unknown {
  try {
    const returned = call();
    const isPlain = returned === null || !['object', 'function'].includes(typeof returned);
    return { returned: isPlain ? returned : typeof returned };
  } catch (error) {
    return { thrown: describeError(error) };
  }
}

function defined(facts: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}

/** Resolves with the event, even when an error comes before it. */
export function happened(emitter: NodeJS.EventEmitter, name: string): Promise<unknown[]> {
  return new Promise((resolve) => emitter.once(name, (...args) => resolve(args)));
}

/** A promise and how to settle it from an event handler. */
export function gate<T = void>(): { open: (value: T) => void; opened: Promise<T> } {
  const { promise, resolve } = Promise.withResolvers<T>();
  return { open: resolve, opened: promise };
}

/** Reads a stream to its end as text. */
export async function textOf(stream: AsyncIterable<unknown>): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  return text;
}

/** Notes the events of an emitter, in their order. */
export function trace(
  emitter: NodeJS.EventEmitter,
  label: string,
  names: readonly string[],
  log: string[],
): void {
  for (const name of names) {
    emitter.on(name, (first: unknown) => {
      const code = first instanceof Error ? ` ${(first as NodeJS.ErrnoException).code}` : '';
      log.push(`${label} ${name}${code}`);
    });
  }
}
