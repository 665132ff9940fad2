import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { observeExchanges, type ExchangeObserver } from '../../src/index.ts';
import { until } from '../until.ts';
import { Ring, type Fact } from './ring.ts';

/** The place of a request, as its records have it. */
export interface Context {
  readonly url: string;
  readonly engine: number;
  readonly at: string;
}

/** Observes this thread until it is disposed of. Routes are those of `routes`, by URL. */
export class Observation implements ExchangeObserver, Disposable {
  readonly rings: Ring[] = [];
  readonly begun: Context[] = [];
  readonly routes = new Map<string, number>();
  readonly #storage = new AsyncLocalStorage<Context>();
  readonly #level: number | undefined;
  readonly #end: () => void;
  #facts: Fact[] = [];

  constructor(level?: number) {
    this.#level = level;
    this.#end = observeExchanges(this);
  }

  ring(engine: number): Uint32Array {
    this.rings[engine] = new Ring(this.#level);
    return this.rings[engine].words;
  }

  begin(
    { url }: IncomingMessage,
    _response: ServerResponse | undefined,
    engine: number,
    ...place: number[]
  ): object {
    const context = { url: url!, engine, at: place.join('.') };
    this.begun.push(context);
    return context;
  }

  run(context: Context, callback: (...args: any[]) => void, ...args: unknown[]): void {
    this.#storage.run(context, callback, ...args);
  }

  routeOf(request: IncomingMessage): number {
    return this.routes.get(request.url!) ?? 0;
  }

  /** The URL of the request whose context this is. */
  get url(): string | undefined {
    return this.#storage.getStore()?.url;
  }

  /** Takes the records of an engine until there are so many of a kind. */
  async facts(kind: Fact['kind'], count = 1, engine = 0): Promise<Fact[]> {
    await until(`${count} records of ${kind}`, () => {
      this.#facts.push(...(this.rings[engine]?.take() ?? []));
      return this.#facts.filter((fact) => fact.kind === kind).length >= count;
    });
    const facts = this.#facts;
    this.#facts = [];
    return facts;
  }

  /** The records that are there. */
  rest(engine = 0): Fact[] {
    const facts = [...this.#facts, ...(this.rings[engine]?.take() ?? [])];
    this.#facts = [];
    return facts;
  }

  [Symbol.dispose](): void {
    this.#end();
  }
}
