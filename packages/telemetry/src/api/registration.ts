import { context, propagation, trace, type TextMapPropagator } from '@opentelemetry/api';
import type { SpanProcessor } from '@opentelemetry/sdk-trace';
import type { AsyncContextManager } from './context-manager.ts';
import type { TracerProvider } from './tracer-provider.ts';

export interface Registration {
  readonly provider: TracerProvider;
  readonly contexts: AsyncContextManager;
  readonly propagator: TextMapPropagator;
}

let registered: TracerProvider | undefined;

/**
 * Makes these the ones that `@opentelemetry/api` uses.
 *
 * @returns true unless another SDK has registered its own; then nothing is changed
 */
export function registerApi({ provider, contexts, propagator }: Registration): boolean {
  if (!trace.setGlobalTracerProvider(provider)) return false;
  if (!context.setGlobalContextManager(contexts)) {
    trace.disable();
    return false;
  }
  propagation.setGlobalPropagator(propagator);
  registered = provider;
  return true;
}

/** Undoes {@link registerApi}. */
export function unregisterApi(): void {
  trace.disable();
  context.disable();
  propagation.disable();
  registered = undefined;
}

/**
 * Adds a processor, which is called for every span that starts from now on, those of requests included.
 *
 * @throws Error if `@redline/telemetry/register` has not been imported
 */
export function addSpanProcessor(processor: SpanProcessor): void {
  if (registered === undefined) {
    throw new Error(
      'A span processor can be added after `--import @redline/telemetry/register` alone.',
    );
  }
  registered.addSpanProcessor(processor);
}
