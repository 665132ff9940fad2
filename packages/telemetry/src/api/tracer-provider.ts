import type {
  Tracer as TracerApi,
  TracerOptions,
  TracerProvider as TracerProviderApi,
} from '@opentelemetry/api';
import { defaultResource, type Resource } from '@opentelemetry/resources';
import type { SpanLimits, SpanProcessor } from '@opentelemetry/sdk-trace';
import type { RingWriter } from '../native/ring-writer.ts';
import { HeadSampling, type Sampling } from './sampling.ts';
import { spanLimits } from './span-limits.ts';
import { SpanProcessors } from './span-processors.ts';
import { spanScope, type SpanScope, type TracerSettings } from './span-scope.ts';
import { Tracer } from './tracer.ts';

export interface TracerProviderOptions {
  /** Writes the records of spans. */
  readonly writer: RingWriter;
  readonly limits?: SpanLimits;
  /** Default: a span is sampled as its parent is, and all traces that begin here are. */
  readonly sampling?: Sampling;
  readonly processors?: readonly SpanProcessor[];
  /** The resource of each span, for processors. */
  readonly resource?: Resource;
}

/** Makes tracers whose spans become records of a ring. */
export class TracerProvider implements TracerProviderApi {
  readonly #settings: TracerSettings;
  readonly #tracers = new Map<string, Tracer>();
  readonly #processors: SpanProcessor[];

  constructor(options: TracerProviderOptions) {
    const { writer, limits, resource = defaultResource() } = options;
    const sampling = options.sampling ?? new HeadSampling({ ratio: 1, isParentBased: true });
    this.#processors = [...(options.processors ?? [])];
    this.#settings = {
      writer,
      limits: spanLimits(limits),
      sampling,
      processor: undefined,
      resource,
    };
    this.#useProcessors();
  }

  getTracer(name: string, version?: string, options?: TracerOptions): TracerApi {
    const scope = this.scope(name, version, options?.schemaUrl);
    const known = this.#tracers.get(scope.text);
    if (known !== undefined) return known;
    const tracer = new Tracer(scope);
    this.#tracers.set(scope.text, tracer);
    return tracer;
  }

  /** Returns the scope of a library that makes spans. */
  scope(name: string, version?: string, schemaUrl?: string): SpanScope {
    const instrumentation = {
      name,
      ...(version !== undefined && { version }),
      ...(schemaUrl !== undefined && { schemaUrl }),
    };
    return spanScope(instrumentation, this.#settings);
  }

  /** Adds a processor of the user's, which sees all spans from now on. */
  addSpanProcessor(processor: SpanProcessor): void {
    this.#processors.push(processor);
    this.#useProcessors();
  }

  async forceFlush(): Promise<void> {
    await this.#settings.processor?.forceFlush();
  }

  async shutdown(): Promise<void> {
    await this.#settings.processor?.shutdown();
  }

  #useProcessors(): void {
    this.#settings.processor =
      this.#processors.length === 0 ? undefined : new SpanProcessors([...this.#processors]);
  }
}
