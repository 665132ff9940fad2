import type { Span } from '@opentelemetry/api';
import { OwnSpan } from './span-identity.ts';

/** A span that is not sampled: it only passes its trace on. */
export class UnrecordedSpan extends OwnSpan implements Span {
  setAttribute(): this {
    return this;
  }

  setAttributes(): this {
    return this;
  }

  addEvent(): this {
    return this;
  }

  addLink(): this {
    return this;
  }

  addLinks(): this {
    return this;
  }

  setStatus(): this {
    return this;
  }

  updateName(): this {
    return this;
  }

  recordException(): void {}

  end(): void {}

  isRecording(): boolean {
    return false;
  }
}
