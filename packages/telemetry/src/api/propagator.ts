import type { TextMapPropagator } from '@opentelemetry/api';
import {
  CompositePropagator,
  W3CBaggagePropagator,
  W3CTraceContextPropagator,
} from '@opentelemetry/core';

const known: Readonly<Record<string, () => TextMapPropagator>> = {
  tracecontext: () => new W3CTraceContextPropagator(),
  baggage: () => new W3CBaggagePropagator(),
};

/** The names that `OTEL_PROPAGATORS` may list, besides `none`. */
export const propagatorNames: readonly string[] = Object.keys(known);

/**
 * Returns a propagator of all named formats.
 *
 * @param names those of `OTEL_PROPAGATORS`; a repeated one counts once
 * @throws RangeError for an unknown name
 */
export function createPropagator(names: readonly string[]): TextMapPropagator {
  const propagators = [...new Set(names)]
    .filter((name) => name !== 'none')
    .map((name) => {
      const make = Object.hasOwn(known, name) ? known[name] : undefined;
      if (make !== undefined) return make();
      throw new RangeError(
        `A propagator must be one of ${propagatorNames.join(', ')} and none; got "${name}".`,
      );
    });
  return new CompositePropagator({ propagators });
}
