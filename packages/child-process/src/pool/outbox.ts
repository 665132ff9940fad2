import type { Kind, Message, Value } from './messages.ts';
import { setImmediate } from '../node/timers.ts';

/** Sends the messages of one turn of the event loop together: a short child makes five of them, often in two turns. */
export class Outbox {
  #waiting: Message[] = [];
  readonly #deliver: (batch: Message[]) => void;

  constructor(deliver: (batch: Message[]) => void) {
    this.#deliver = deliver;
  }

  post(kind: Kind, id: number, value?: Value): void {
    this.#waiting.push([kind, id, value]);
    if (this.#waiting.length === 1) setImmediate(() => this.#flush());
  }

  #flush(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    this.#deliver(batch);
  }
}
