import { isObservable } from 'rxjs';

import { idName } from './messages.ts';
import { currentId } from './run-work.ts';

type Call = (...args: unknown[]) => unknown;
type Methods = Record<string, Call | undefined>;

const patched = new WeakSet<object>();

function replace(methods: object, name: string, make: (own: Call) => Call): void {
  const own = (methods as Methods)[name];
  if (own === undefined) return;
  (methods as Methods)[name] = make(own);
}

function once(prototype: object): boolean {
  if (patched.has(prototype)) return false;
  patched.add(prototype);
  return true;
}

/**
 * Adds the id to messages without headers, such as those of TCP and Redis: they are JSON with a pattern and data, and the id is a
 * third field. A receiver that does not know it ignores it.
 */
export function carryInPackets(prototype: object): void {
  if (!once(prototype)) return;
  const withId = (own: Call): Call =>
    function (this: unknown, packet, ...rest) {
      const requestId = currentId();
      const given = requestId === undefined ? packet : { ...(packet as object), requestId };
      return Reflect.apply(own, this, [given, ...rest]);
    };
  for (const name of ['publish', 'dispatchEvent']) replace(prototype, name, withId);
}

/** Adds the id to the headers of NATS, unless the message or the client has one. */
export function carryInNats(prototype: object): void {
  if (!once(prototype)) return;
  replace(
    prototype,
    'mergeHeaders',
    (own) =>
      function (this: unknown, headers) {
        const id = currentId();
        if (id === undefined) return Reflect.apply(own, this, [headers]);
        // `mergeHeaders` adds headers of the options that the message lacks; the client's own win.
        const { options } = this as { options?: { headers?: object } };
        const more = { ...options, headers: { [idName]: id, ...options?.headers } };
        return Reflect.apply(own, { options: more }, [headers]);
      },
  );
}

/**
 * Adds the id to the headers of Kafka, unless the message has one. Nest's serializer accepts a message with headers in place of
 * its value; a custom serializer may not.
 */
export function carryInKafka(prototype: object): void {
  if (!once(prototype)) return;
  const withId = (own: Call): Call =>
    function (this: unknown, packet, ...rest) {
      const id = currentId();
      const { serializer } = this as { serializer?: object };
      if (id === undefined || serializer?.constructor.name !== 'KafkaRequestSerializer')
        return Reflect.apply(own, this, [packet, ...rest]);
      const { data } = packet as { data: unknown };
      const isMessage =
        typeof data === 'object' && data !== null && ('key' in data || 'value' in data);
      const message: { headers?: object } = isMessage ? data : ({ value: data } as object);
      const given = { ...message, headers: { [idName]: id, ...message.headers } };
      return Reflect.apply(own, this, [{ ...(packet as object), data: given }, ...rest]);
    };
  for (const name of ['publish', 'dispatchEvent']) replace(prototype, name, withId);
}

interface Metadata {
  clone(): Metadata;
  get(name: string): readonly unknown[];
  set(name: string, value: string): void;
}

type MetadataClass = new () => Metadata;

/** Adds the id to gRPC's metadata, unless it has one. The first client that makes a method calls `load`, which takes 100 ms. */
export function carryInGrpc(prototype: object, load: (name: string) => unknown): void {
  if (!once(prototype)) return;
  replace(
    prototype,
    'createServiceMethod',
    (own) =>
      function (this: unknown, ...made) {
        const method = Reflect.apply(own, this, made) as Call;
        const MetadataClass = metadataClass(load);
        if (MetadataClass === undefined) return method;
        return (...args: unknown[]) => {
          const id = currentId();
          if (id === undefined || args.length === 0) return method(...args);
          const [data, second, ...rest] = args;
          const isMetadata = second instanceof MetadataClass;
          const metadata = isMetadata ? second.clone() : new MetadataClass();
          if (metadata.get(idName).length === 0) metadata.set(idName, id);
          // A stream of requests comes as the first argument, followed by its metadata.
          const others = isMetadata || second === undefined ? rest : [second, ...rest];
          return isObservable(data) && others.length === 0
            ? method(data, metadata)
            : method(data, metadata, ...others);
        };
      },
  );
}

function metadataClass(load: (name: string) => unknown): MetadataClass | undefined {
  try {
    return (load('@grpc/grpc-js') as { Metadata?: MetadataClass }).Metadata;
  } catch {
    return undefined;
  }
}
