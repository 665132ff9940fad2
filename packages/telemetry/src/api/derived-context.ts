import type { Context } from '@opentelemetry/api';
import { SPAN_KEY } from './context-keys.ts';

/** Stands for the span of the base, which it makes when something asks for it. */
const OF_BASE: unique symbol = Symbol('the span of the base');

/**
 * A context made from another by setting values. The span is a field, for it is the value that programs set; the others are in a
 * map, which contexts share until one sets another value. `base` is never one of this class: a context deep in spans is as flat
 * as the first.
 */
export class DerivedContext implements Context {
  readonly #base: Context;
  readonly #span: unknown;
  readonly #values: ReadonlyMap<symbol, unknown> | undefined;

  private constructor(
    base: Context,
    span: unknown,
    values: ReadonlyMap<symbol, unknown> | undefined,
  ) {
    this.#base = base;
    this.#span = span;
    this.#values = values;
  }

  /** @param base any context of another class */
  static of(base: Context, key: symbol, value: unknown): DerivedContext {
    if (key === SPAN_KEY) return new DerivedContext(base, value, undefined);
    return new DerivedContext(base, OF_BASE, new Map([[key, value]]));
  }

  getValue(key: symbol): unknown {
    if (key === SPAN_KEY && this.#span !== OF_BASE) return this.#span;
    return this.#values?.has(key) ? this.#values.get(key) : this.#base.getValue(key);
  }

  setValue(key: symbol, value: unknown): DerivedContext {
    if (key === SPAN_KEY) return new DerivedContext(this.#base, value, this.#values);
    return new DerivedContext(this.#base, this.#span, new Map(this.#values).set(key, value));
  }

  deleteValue(key: symbol): DerivedContext {
    return this.setValue(key, undefined);
  }
}

/** Returns a context with a span, at less cost than that of another context's own method. */
export function withSpan(context: Context, span: unknown): DerivedContext {
  return context instanceof DerivedContext
    ? context.setValue(SPAN_KEY, span)
    : DerivedContext.of(context, SPAN_KEY, span);
}
