import { http } from '../node/node-http.ts';
import type { EngineResponse } from '../exchange.ts';

type NodeMethods = Record<
  | 'write'
  | 'end'
  | 'destroy'
  | '_writeRaw'
  | '_send'
  | '_storeHeader'
  | '_isLenientHeaderValidation'
  | 'setHeader'
  | 'getHeader'
  | 'hasHeader'
  | 'removeHeader'
  | 'listenerCount'
  | 'on',
  (this: EngineResponse, ...rest: unknown[]) => never
> &
  Record<'flushHeaders' | 'cork' | 'uncork' | '_flush', (this: EngineResponse) => void>;

/** Node's own methods, for all but the common path. */
export const nodeResponse: NodeMethods = http.ServerResponse.prototype as never;

/** Returns Node's method for this response: an accessor that user code has installed binds the object it is read from. */
export function nodeMethod<Name extends keyof NodeMethods>(
  response: EngineResponse,
  name: Name,
): NodeMethods[Name] {
  return Reflect.get(nodeResponse, name, response) as NodeMethods[Name];
}
