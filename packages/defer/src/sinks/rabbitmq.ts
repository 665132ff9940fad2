import { connect, type ChannelModel, type ConfirmChannel } from 'amqplib';
import { headersOf, choose, JobFault } from '../delivery/message.ts';
import { inOrder, resultsOf } from '../delivery/outcomes.ts';
import { abortable, untilAborted } from '../delivery/until-aborted.ts';
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

export interface RabbitMQOptions {
  /** The URL of the server, or a function that connects to it. */
  connect: string | (() => Promise<ChannelModel>);
  /**
   * The empty exchange delivers to the queue that the routing key names.
   * @default ''
   */
  exchange?: string;
  routingKey: string | ((delivery: Delivery) => string);
  /** Runs on every new channel, to declare queues, exchanges and bindings. */
  setup?: (channel: ConfirmChannel) => Promise<unknown>;
  /**
   * The longest message that the server accepts (its `max_message_size`), in characters of JSON.
   * @default 16_777_216
   */
  maxJobBytes?: number;
}

/** The server's code for a channel that it closed because of one message. */
const preconditionFailed = 406;
const connectTimeoutMs = 10_000;

/**
 * Each job is one persistent message, confirmed by the server; one that no queue accepts is retried. `messageId` is the
 * job's id, the same if a message has to be sent again, for consumers to dedupe by; `type` is the job's name.
 *
 * @example
 * ```ts
 * const sink = rabbitmq({
 *   connect: process.env.AMQP_URL!,
 *   routingKey: 'mail',
 *   setup: (channel) => channel.assertQueue('mail', { durable: true }),
 * });
 * ```
 */
export function rabbitmq(options: RabbitMQOptions): Sink {
  refuseUnknown<keyof RabbitMQOptions>('rabbitmq', options, {
    connect: true,
    exchange: true,
    routingKey: true,
    setup: true,
    maxJobBytes: true,
  });
  return new RabbitMQSink(options);
}

interface Line {
  model: ChannelModel;
  channel: ConfirmChannel;
  /** Reason why the server closed it, once it did. */
  closedBy?: unknown;
  /** Messages that no queue took, by id, with the server's reason: each is reported just before its confirmation. */
  returned: Map<string, string>;
}

class RabbitMQSink implements Sink {
  readonly kind = 'rabbitmq';
  readonly maxJobBytes: number;
  readonly #options: RabbitMQOptions;
  #line: Promise<Line> | undefined;
  #host: SinkHost | undefined;

  constructor(options: RabbitMQOptions) {
    this.#options = options;
    this.maxJobBytes = options.maxJobBytes ?? 16_777_216;
  }

  open(host: SinkHost): void {
    this.#host = host;
    this.#obtainLine().catch(() => {
      // The first `send` reports it.
    });
  }

  async send(batch: readonly Delivery[], signal: AbortSignal): Promise<BatchResults> {
    if (this.#host?.ordered === true) return this.#oneByOne(batch, signal);
    const line = await untilAborted(this.#obtainLine(), signal);
    const inTime = abortable(signal);
    const outcomes = await Promise.allSettled(
      batch.map((delivery) => inTime.race(this.#publish(line, delivery))),
    );
    const closedByOne =
      (line.closedBy as { code?: number } | undefined)?.code === preconditionFailed;
    if (!closedByOne) return resultsOf(outcomes, verdict);
    // One message is at fault, and the server does not say which. Those it has confirmed are not sent again.
    const left = batch.filter((_, index) => outcomes[index]!.status === 'rejected');
    const results = new Map(
      (await this.#oneByOne(left, signal)).map((result, index) => [left[index], result]),
    );
    return batch.map((delivery) => results.get(delivery));
  }

  async close(): Promise<void> {
    const line = await this.#line?.catch(() => undefined);
    this.#line = undefined;
    await line?.model.close().catch(() => {});
  }

  async #oneByOne(batch: readonly Delivery[], signal: AbortSignal): Promise<DeliveryResult[]> {
    let isFirst = true;
    return inOrder(batch, async (delivery) => {
      const line = await untilAborted(this.#obtainLine(), signal);
      try {
        await untilAborted(this.#publish(line, delivery), signal);
        isFirst = false;
        return undefined;
      } catch (error) {
        const { code } = (line.closedBy ?? {}) as { code?: number };
        if (code === preconditionFailed) return dead(line.closedBy);
        if (error instanceof JobFault) return dead(error);
        if (isFirst) throw error;
        return retry(error);
      }
    });
  }

  async #publish(line: Line, delivery: Delivery): Promise<void> {
    const { exchange = '' } = this.#options;
    const routingKey = choose('routingKey', this.#options.routingKey, delivery);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const put = (...message: Parameters<ConfirmChannel['publish']>): void => {
      try {
        line.channel.publish(...message);
      } catch (cause) {
        const { name, message: reason } = cause as Error;
        // The error of a closed channel; all others are about the message, for example a word that is too long for its field.
        if (name === 'IllegalOperationError') throw cause;
        throw new JobFault(`The message cannot be encoded: ${reason}`, { cause });
      }
    };
    put(
      exchange,
      routingKey,
      Buffer.from(delivery.json),
      {
        persistent: true,
        mandatory: true,
        contentType: 'application/json',
        messageId: delivery.id,
        type: delivery.job,
        timestamp: Math.floor(delivery.deferredAtMs / 1_000),
        headers: headersOf(delivery),
      },
      (error: unknown) => {
        const reason = line.returned.get(delivery.id);
        line.returned.delete(delivery.id);
        if (reason !== undefined) {
          reject(new Error(`No queue of RabbitMQ took "${delivery.job}": ${reason}.`));
        } else if (error) {
          reject(error as Error);
        } else resolve();
      },
    );
    await promise;
  }

  /** Returns the open line, or a new one. */
  #obtainLine(): Promise<Line> {
    if (this.#line !== undefined) return this.#line;
    const fresh = this.#openLine(() => {
      if (this.#line === fresh) this.#line = undefined;
    });
    this.#line = fresh;
    fresh.catch(() => {
      if (this.#line === fresh) this.#line = undefined;
    });
    return fresh;
  }

  async #openLine(forget: () => void): Promise<Line> {
    const how = this.#options.connect;
    const model =
      typeof how === 'string' ? await connect(how, { timeout: connectTimeoutMs }) : await how();
    model.on('error', forget);
    model.on('close', forget);
    try {
      const channel = await model.createConfirmChannel();
      const line: Line = { model, channel, returned: new Map() };
      channel.on('error', (error: unknown) => {
        line.closedBy = error;
      });
      channel.on('close', () => {
        forget();
        model.close().catch(() => {});
      });
      channel.on('return', ({ properties, fields }) => {
        const { replyText } = fields as unknown as { replyText: string };
        line.returned.set(String(properties.messageId), replyText);
      });
      await this.#options.setup?.(channel);
      return line;
    } catch (error) {
      await model.close().catch(() => {});
      throw error;
    }
  }
}

function verdict(error: unknown): DeliveryResult {
  return error instanceof JobFault ? dead(error) : retry(error);
}
