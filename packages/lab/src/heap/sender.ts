import type { Plan } from '../config/resolve-plan.ts';
import { LabError } from '../errors.ts';
import { withSession } from '../load/endpoint.ts';
import { type CountedOutcome, CountedSender } from '../load/counted.ts';
import { labelsOf } from '../servers/contract.ts';
import { untilIdle } from '../servers/until-idle.ts';
import type { HeapApp } from './app.ts';

const defaultConnections = 8;
const quietMs = 30;
/** An app with other traffic or background work never becomes idle. */
const maxIdleMs = 3_000;

/** Sends exact numbers of requests, and waits after each until the app is idle. */
export class Sender implements AsyncDisposable {
  readonly connections: number;
  readonly #app: HeapApp;
  readonly #plan: Plan;
  readonly #signal: AbortSignal;
  readonly #load: CountedSender;
  #sent = 0;
  #badStatus = 0;
  #socketErrors = 0;

  constructor(app: HeapApp, plan: Plan, signal: AbortSignal) {
    this.#app = app;
    this.#plan = plan;
    this.#signal = signal;
    this.#load = new CountedSender(signal);
    this.connections = plan.hasConnections ? plan.connections : defaultConnections;
  }

  /** Requests so far. */
  get sent(): number {
    return this.#sent;
  }

  get labels(): string[] {
    const { requestLabel, requests } = this.#plan;
    return requestLabel === undefined ? labelsOf(requests) : [requestLabel];
  }

  get warnings(): string[] {
    return [
      ...(this.#badStatus > 0
        ? [`${this.#badStatus} of ${this.#sent} requests had a status of 400 or above.`]
        : []),
      ...(this.#socketErrors > 0
        ? [`${this.#socketErrors} of ${this.#sent} requests got no response.`]
        : []),
    ];
  }

  /** @throws {LabError} ERR_REDLINE_LOAD when most requests fail */
  async send(count: number): Promise<{ perSecond: number }> {
    const { endpoint, pid } = this.#app;
    const outcome = await this.#load.send({
      host: endpoint.host,
      port: endpoint.port,
      requests: withSession(endpoint, this.#plan.requests),
      count,
      connections: Math.min(this.connections, count),
      offset: this.#sent,
    });
    this.#sent += count;
    this.#badStatus += outcome.badStatus;
    this.#socketErrors += outcome.socketErrors;
    this.#requireAnswers(count, outcome);
    await untilIdle(pid, { quietMs, maxMs: maxIdleMs }, this.#signal);
    return { perSecond: count / outcome.seconds };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#load[Symbol.asyncDispose]();
  }

  #requireAnswers(count: number, { badStatus, socketErrors }: CountedOutcome): void {
    if (badStatus + socketErrors <= count / 2) return;
    const what =
      socketErrors > badStatus
        ? `did not answer ${socketErrors} of ${count} requests`
        : `answered ${badStatus} of ${count} requests with a status of 400 or above`;
    throw new LabError(
      'ERR_REDLINE_LOAD',
      `"${this.#app.name}" ${what}: its memory would be that of failing requests.`,
    );
  }
}
