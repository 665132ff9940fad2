import { AsyncLocalStorage } from 'node:async_hooks';

import { isSafeId } from '../request-id.ts';
import { runWork, coreOf } from './run-work.ts';
import type { WorkFacts } from './work-log.ts';

/** Name of the id in headers and in gRPC's metadata. */
export const idName = 'x-request-id';

/* Nest's own metadata keys. */
const patternMetadata = 'microservices:pattern';
const handlerMetadata = 'microservices:handler_type';
const eventHandler = 2;

type Call = (...args: unknown[]) => unknown;
interface Proxy {
  create(target: Call, ...rest: unknown[]): unknown;
}
interface Creator {
  rpcProxy?: Proxy;
  wsProxy?: Proxy;
  create(instance: object, callback: Call, ...rest: unknown[]): unknown;
}
interface Packets {
  handleMessage?: Call;
  deserializer?: { deserialize: Call };
}

/* The id next to the pattern of messages that have no headers. */
const arriving = new AsyncLocalStorage<{ id: string | undefined }>();
const patched = new WeakSet<object>();

/** Runs every handler of messages as a piece of work, with its guards and pipes: Nest creates all of them through this method. */
export function watchHandlers(prototype: Creator, kind: 'rpc' | 'ws'): void {
  if (patched.has(prototype)) return;
  patched.add(prototype);
  const { create } = prototype;
  const name = kind === 'rpc' ? 'rpcProxy' : 'wsProxy';
  prototype.create = function (this: Creator, instance, callback, ...rest) {
    const core = coreOf(this);
    const proxy = this[name];
    if (core === undefined || proxy === undefined)
      return create.call(this, instance, callback, ...rest);
    // Only for the call below: its target runs at a point where errors are still those that were thrown.
    const own = Object.getOwnPropertyDescriptor(this, name)!;
    const watching: Proxy = {
      create: (target, ...others) =>
        proxy.create(
          (...args) => {
            const facts =
              kind === 'rpc' ? rpcFacts(callback, args) : wsFacts(args.at(-1), callback.name);
            const id = facts.id ?? core.freshId();
            return runWork(core, { ...facts, id }, () => target(...args));
          },
          ...others,
        ),
    };
    Object.defineProperty(this, name, { ...own, value: watching });
    try {
      return create.call(this, instance, callback, ...rest);
    } finally {
      Object.defineProperty(this, name, own);
    }
  };
}

type Found = Omit<WorkFacts, 'id'> & { readonly id: string | undefined };

function wsFacts(pattern: unknown, method: string): Found {
  return { kind: 'ws', pattern: typeof pattern === 'string' ? pattern : method, id: undefined };
}

function rpcFacts(callback: Call, [, context]: readonly unknown[]): Found {
  const patterns: unknown = Reflect.getMetadata(patternMetadata, callback);
  const [pattern] = Array.isArray(patterns) ? (patterns as unknown[]) : [patterns];
  const isEvent = Reflect.getMetadata(handlerMetadata, callback) === eventHandler;
  const given = idIn(context) ?? arriving.getStore()?.id;
  return {
    kind: isEvent ? 'event' : 'message',
    transport: transportOf(context),
    pattern: textOf(pattern),
    id: isSafeId(given) ? given : undefined,
  };
}

function textOf(pattern: unknown): string {
  if (typeof pattern === 'string') return pattern;
  const { service, rpc } = (pattern ?? {}) as { service?: unknown; rpc?: unknown };
  if (typeof service === 'string' && typeof rpc === 'string') return `${service}/${rpc}`;
  return JSON.stringify(pattern) ?? String(pattern);
}

function transportOf(context: unknown): string | undefined {
  const name = (context as object | undefined)?.constructor?.name ?? '';
  if (name === 'Metadata') return 'grpc';
  const transport = /^(Tcp|Redis|Nats|Rmq|Kafka|Mqtt)Context$/.exec(name)?.[1];
  return transport?.toLowerCase();
}

/* Returns the id in the headers of each transport that has headers. */
function idIn(context: unknown): unknown {
  const of = (context ?? {}) as Record<string, unknown>;
  const call = (name: string): any =>
    typeof of[name] === 'function' ? Reflect.apply(of[name], context, []) : undefined;
  try {
    if (typeof of['getHeaders'] === 'function') return call('getHeaders')?.get?.(idName);
    if (typeof of['getMap'] === 'function' && typeof of['get'] === 'function')
      return String((Reflect.apply(of['get'], context, [idName]) as unknown[])[0] ?? '');
    const message = call('getMessage') ?? call('getPacket');
    const headers =
      message?.properties?.headers ?? message?.headers ?? message?.properties?.userProperties;
    const value: unknown = headers?.[idName];
    return value instanceof Uint8Array ? Buffer.from(value).toString() : value;
  } catch {
    // A transport of the app may mean something else by these names.
    return undefined;
  }
}

/** Reads the id next to the pattern of a message, on TCP, Redis and the like. */
export function watchPackets(server: Packets): void {
  const { handleMessage, deserializer } = server;
  if (patched.has(server) || handleMessage === undefined || deserializer === undefined) return;
  patched.add(server);
  server.handleMessage = (...args) =>
    arriving.run({ id: undefined }, () => Reflect.apply(handleMessage, server, args));
  const note = (packet: unknown): unknown => {
    const store = arriving.getStore();
    const { requestId } = (packet ?? {}) as { requestId?: unknown };
    if (store !== undefined && typeof requestId === 'string') store.id = requestId;
    return packet;
  };
  server.deserializer = Object.create(deserializer, {
    deserialize: {
      value(...args: unknown[]): unknown {
        // The deserializer makes a new object from the message, without unknown fields.
        note(args[0]);
        const packet: unknown = Reflect.apply(deserializer.deserialize, deserializer, args);
        return packet instanceof Promise ? packet.then(note) : note(packet);
      },
    },
  }) as typeof deserializer;
}
