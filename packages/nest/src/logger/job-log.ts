import type { Bindings, Logger } from 'pino';

/** The logger of work that is not a request: a queue's, a timer's, a command's. */
export class JobLog {
  #pino: Logger;

  constructor(pino: Logger) {
    this.#pino = pino;
  }

  get pino(): Logger {
    return this.#pino;
  }

  /** Adds fields to every later line of the job. */
  assign(fields: Bindings): void {
    this.#pino = this.#pino.child(fields);
  }
}
