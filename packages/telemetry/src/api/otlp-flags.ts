const TRACE_FLAGS = 0xff;
const HAS_IS_REMOTE = 0x100;
const IS_REMOTE = 0x200;

/** Returns the flags of OTLP of a span with such a parent, or of a link to such a span. */
export function otlpFlags(traceFlags: number, isRemote: boolean): number {
  return (traceFlags & TRACE_FLAGS) | HAS_IS_REMOTE | (isRemote ? IS_REMOTE : 0);
}
