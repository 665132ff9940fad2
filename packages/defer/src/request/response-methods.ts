import type { ServerResponse } from 'node:http';

/** Methods that send bytes of a response or fix its header. */
export type Name = 'write' | 'end' | 'writeHead' | 'flushHeaders';
export type Methods = Readonly<Record<Name, (...args: never[]) => unknown>>;

export interface Gate {
  take(name: Name, args: unknown[]): unknown;
}

const gateOf = Symbol('redline.defer.gate');
type Gated = ServerResponse & { [gateOf]?: Gate };

/** Shared by all responses: four closures for each would cost a request more than everything else done for it. */
const shared: Methods = {
  write(this: Gated, ...args: unknown[]) {
    return this[gateOf]!.take('write', args);
  },
  end(this: Gated, ...args: unknown[]) {
    return this[gateOf]!.take('end', args);
  },
  writeHead(this: Gated, ...args: unknown[]) {
    return this[gateOf]!.take('writeHead', args);
  },
  flushHeaders(this: Gated) {
    return this[gateOf]!.take('flushHeaders', []);
  },
};

/** Returns the methods of an earlier wrapper, such as another gate; undefined if they are not wrapped. */
export function wrappedOf(response: ServerResponse): Methods | undefined {
  const { hasOwn } = Object;
  const isWrapped =
    hasOwn(response, 'end') ||
    hasOwn(response, 'write') ||
    hasOwn(response, 'writeHead') ||
    hasOwn(response, 'flushHeaders');
  if (!isWrapped) return undefined;
  const { write, end, writeHead, flushHeaders } = response;
  return { write, end, writeHead, flushHeaders };
}

/** Returns Node's methods, or those of the app's own prototype: Express gives its responses one. */
export function unwrappedOf(response: ServerResponse): Methods {
  return Object.getPrototypeOf(response) as ServerResponse;
}

/** Returns methods that pass the calls of a response to `gate`: closures if the shared ones already lead to another. */
export function methodsThrough(gate: Gate, isWrapped: boolean): Methods {
  if (!isWrapped) return shared;
  return {
    write: (...args: unknown[]) => gate.take('write', args),
    end: (...args: unknown[]) => gate.take('end', args),
    writeHead: (...args: unknown[]) => gate.take('writeHead', args),
    flushHeaders: () => gate.take('flushHeaders', []),
  };
}

/** Gives the response the methods of `gate`, replacing any of its own. */
export function install(response: ServerResponse, methods: Methods, gate: Gate): void {
  const { write, end, writeHead, flushHeaders } = methods as ServerResponse;
  if (methods === shared) (response as Gated)[gateOf] = gate;
  response.write = write;
  response.end = end;
  response.writeHead = writeHead;
  response.flushHeaders = flushHeaders;
}
