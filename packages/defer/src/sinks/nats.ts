import { jetstream, JetStreamApiError, type JetStreamClient } from '@nats-io/jetstream';
import {
  connect,
  headers,
  InvalidArgumentError,
  InvalidSubjectError,
  type ConnectionOptions,
  type MsgHdrs,
  type NatsConnection,
} from '@nats-io/transport-node';
import { headersOf, identityOf, choose, JobFault } from '../delivery/message.ts';
import { inOrder, resultsOf } from '../delivery/outcomes.ts';
import { abortable, untilAborted, type Abortable } from '../delivery/until-aborted.ts';
import {
  dead,
  retry,
  type BatchResults,
  type Delivery,
  type DeliveryResult,
  type Sink,
  type SinkHost,
} from '../sink.ts';
import { refuseUnknown } from '../validate.ts';

export interface NatsOptions {
  /** Options of the connection. The sink opens its own, which reconnects by itself. */
  connect: ConnectionOptions;
  /** A subject captured by a JetStream stream, or a function that returns the subject of a job. */
  subject: string | ((delivery: Delivery) => string);
  /**
   * The longest message that the server accepts (its `max_payload`), in characters of JSON.
   * @default 1_000_000
   */
  maxJobBytes?: number;
}

/** Error code of a stream: "message size exceeds maximum allowed". */
const messageTooLarge = 10_054;

/**
 * Each job is one message of a JetStream stream, acknowledged by it. The id of the message is the job's name and key, or
 * its id if it has no key: within the stream's `duplicate_window` the server drops a second message with that id.
 *
 * @example
 * ```ts
 * const sink = nats({ connect: { servers: process.env.NATS_URL }, subject: ({ job }) => `jobs.${job}` });
 * ```
 */
export function nats(options: NatsOptions): Sink {
  refuseUnknown<keyof NatsOptions>('nats', options, {
    connect: true,
    subject: true,
    maxJobBytes: true,
  });
  return new NatsSink(options);
}

class NatsSink implements Sink {
  readonly kind = 'nats';
  readonly maxJobBytes: number;
  readonly #options: NatsOptions;
  #host: SinkHost | undefined;
  #connection: NatsConnection | undefined;
  #connecting: Promise<JetStreamClient> | undefined;
  #isDown = false;

  constructor(options: NatsOptions) {
    this.#options = options;
    this.maxJobBytes = options.maxJobBytes ?? 1_000_000;
  }

  open(host: SinkHost): void {
    this.#host = host;
    this.#obtainClient().catch(() => {
      // The first `send` reports it.
    });
  }

  async send(batch: readonly Delivery[], signal: AbortSignal): Promise<BatchResults> {
    const client = await untilAborted(this.#obtainClient(), signal);
    if (this.#isDown) throw new Error('NATS is unavailable: reconnecting.');
    const inTime = abortable(signal);
    if (this.#host?.ordered !== true) {
      const outcomes = await Promise.allSettled(
        batch.map((delivery) => this.#publish(client, delivery, inTime)),
      );
      return resultsOf(outcomes, verdict);
    }
    let isFirst = true;
    return inOrder(batch, async (delivery) => {
      try {
        await this.#publish(client, delivery, inTime);
        isFirst = false;
        return undefined;
      } catch (error) {
        const result = verdict(error);
        if (isFirst && result?.kind === 'retry') throw error;
        return result;
      }
    });
  }

  async close(): Promise<void> {
    const connecting = this.#connecting;
    this.#connecting = undefined;
    await connecting?.catch(() => {});
    await this.#connection?.close();
  }

  async #publish(client: JetStreamClient, delivery: Delivery, inTime: Abortable): Promise<void> {
    const subject = choose('subject', this.#options.subject, delivery);
    const options = { msgID: identityOf(delivery), headers: toHeaders(headersOf(delivery)) };
    try {
      await inTime.race(client.publish(subject, delivery.json, options));
    } catch (error) {
      // The client calls it "jetstream is not enabled", and exports no class for it.
      if ((error as Error).name !== 'JetStreamNotEnabled') throw error;
      throw new Error(`No JetStream stream captures "${subject}".`, { cause: error });
    }
  }

  #obtainClient(): Promise<JetStreamClient> {
    if (this.#connecting === undefined || this.#connection?.isClosed() === true) {
      const fresh = this.#connect();
      this.#connecting = fresh;
      fresh.catch(() => {
        if (this.#connecting === fresh) this.#connecting = undefined;
      });
    }
    return this.#connecting!;
  }

  async #connect(): Promise<JetStreamClient> {
    const connection = await connect({
      maxReconnectAttempts: -1,
      reconnectTimeWait: 200,
      ...this.#options.connect,
    });
    this.#connection = connection;
    this.#isDown = false;
    void this.#watch(connection);
    return jetstream(connection);
  }

  async #watch(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) {
      if (status.type !== 'disconnect' && status.type !== 'reconnect') continue;
      this.#isDown = status.type === 'disconnect';
      this.#host?.available(!this.#isDown);
    }
  }
}

function verdict(error: unknown): DeliveryResult {
  const isFault =
    error instanceof JobFault ||
    error instanceof InvalidArgumentError ||
    error instanceof InvalidSubjectError ||
    (error instanceof JetStreamApiError && error.code === messageTooLarge);
  return isFault ? dead(error) : retry(error);
}

function toHeaders(values: Record<string, string>): MsgHdrs {
  const result = headers();
  for (const name in values) result.set(name, values[name]!.replaceAll(/[\r\n]/g, ' '));
  return result;
}
