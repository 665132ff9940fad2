import { propagation, ROOT_CONTEXT, trace, type Context } from '@opentelemetry/api';
import { getRPCMetadata } from '@opentelemetry/core';

/** The keys of the values that a request has. */
export const SPAN_KEY: symbol = keyReadBy((context) => trace.getSpan(context));
export const BAGGAGE_KEY: symbol = keyReadBy((context) => propagation.getBaggage(context));
export const RPC_METADATA_KEY: symbol = keyReadBy((context) => getRPCMetadata(context));

/** The API does not export its keys, so a context notes which one is read. */
function keyReadBy(read: (context: Context) => unknown): symbol {
  let found: symbol | undefined;
  const probe: Context = {
    getValue(key) {
      found = key;
      return undefined;
    },
    setValue: () => ROOT_CONTEXT,
    deleteValue: () => ROOT_CONTEXT,
  };
  read(probe);
  if (found === undefined) throw new Error('@opentelemetry/api reads no key of a context.');
  return found;
}
