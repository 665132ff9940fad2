import type { ServerResponse } from 'node:http';

/** Everything that makes bytes of a response leave, or fixes its header. */
export type Name = 'write' | 'end' | 'writeHead' | 'flushHeaders';
export type Methods = Readonly<Record<Name, (...args: never[]) => unknown>>;

/** What the calls of a response go through. */
export interface Gate {
  take(name: Name, args: unknown[]): unknown;
}

const gateOf = Symbol('redline.defer.gate');
type Gated = ServerResponse & { [gateOf]?: Gate };

/** The same functions for every response: four closures for each would cost a request more than all else that is done for it. */
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

/** The methods of whoever has wrapped them before, another gate for one; undefined where nobody has. */
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

/** Those of Node, or of the app's own prototype: Express gives its responses one. */
export function unwrappedOf(response: ServerResponse): Methods {
  return Object.getPrototypeOf(response) as ServerResponse;
}

/** The methods that lead the calls of `response` through `gate`: closures where the shared ones lead through another. */
export function methodsThrough(gate: Gate, isWrapped: boolean): Methods {
  if (!isWrapped) return shared;
  return {
    write: (...args: unknown[]) => gate.take('write', args),
    end: (...args: unknown[]) => gate.take('end', args),
    writeHead: (...args: unknown[]) => gate.take('writeHead', args),
    flushHeaders: () => gate.take('flushHeaders', []),
  };
}

/** Gives the response the methods of `gate`, in place of all that it has of its own. */
export function install(response: ServerResponse, methods: Methods, gate: Gate): void {
  const { write, end, writeHead, flushHeaders } = methods as ServerResponse;
  if (methods === shared) (response as Gated)[gateOf] = gate;
  response.write = write;
  response.end = end;
  response.writeHead = writeHead;
  response.flushHeaders = flushHeaders;
}
