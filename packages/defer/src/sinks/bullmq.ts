import type { JobsOptions, Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { identityOf } from '../delivery/message.ts';
import { untilAborted } from '../delivery/until-aborted.ts';
import { optionError } from '../errors.ts';
import { laneScript, testedBullMQ, PackedRecords } from '../redis/scripts.ts';
import { RedisLink } from '../redis/redis-link.ts';
import {
  dead,
  type BatchResults,
  type Delivery,
  type DeliveryResult,
  type Sink,
  type SinkHost,
} from '../sink.ts';
import { refuseUnknown } from '../validate.ts';

export interface BullMQOptions {
  /**
   * `'auto'`: plain jobs of a batch are written in one call, if this version of BullMQ was tested.
   * `'bulk'`: always through the queue's own `addBulk`.
   * @default 'auto'
   */
  lane?: 'auto' | 'bulk';
}

/**
 * The options of a plain job, and the names under which BullMQ stores them. Any other option makes the job go through
 * `addBulk`.
 */
const plainOptions: Readonly<Record<string, string>> = {
  attempts: 'attempts',
  backoff: 'backoff',
  keepLogs: 'kl',
  removeOnComplete: 'removeOnComplete',
  removeOnFail: 'removeOnFail',
  stackTraceLimit: 'stackTraceLimit',
};
const ownOptions = new Set([
  'jobId',
  'timestamp',
  'telemetry',
  'repeat',
  'repeatJobKey',
  'prevMillis',
]);

type Lane = (...words: string[]) => Promise<number>;
interface Entry {
  name: string;
  data: unknown;
  opts: JobsOptions;
}

/**
 * Jobs go to a BullMQ queue, for any stock worker. The job's name and key, `send-mail~order-7`, or its id if it has no
 * key, become BullMQ's `jobId`: while a job with that id is in the queue, a second is dropped. `options` of `defer()`
 * are BullMQ's own: `delay`, `priority`, `attempts`, `parent`…
 *
 * @param queue You own it: the sink reads its settings, opens its own connection, and does not close it.
 * @example
 * ```ts
 * const sink = bullmq(new Queue('mail', { connection }));
 * defer(sendMail, { to }, { key: order.id, options: { attempts: 3 } });
 * ```
 */
export function bullmq(queue: Queue, options: BullMQOptions = {}): Sink {
  refuseUnknown<keyof BullMQOptions>('bullmq', options, { lane: true });
  const { lane = 'auto' } = options;
  if (lane !== 'auto' && lane !== 'bulk') {
    throw optionError(`lane is ${JSON.stringify(lane)}: it must be "auto" or "bulk".`);
  }
  return new BullMQSink(queue, lane === 'auto');
}

class BullMQSink implements Sink {
  readonly kind = 'bullmq';
  readonly #queue: Queue;
  readonly #hasLane: boolean;
  readonly #optionsText = new Map<string, string>();
  #link: Promise<RedisLink> | undefined;
  #lane: Lane | undefined;
  #isOrdered = false;
  #isClosed = false;
  #keys: string[] = [];

  constructor(queue: Queue, wantsLane: boolean) {
    this.#queue = queue;
    const [library, version = ''] = (queue.metaValues['version'] as string).split(':');
    this.#hasLane =
      wantsLane &&
      library === 'bullmq' &&
      testedBullMQ.has(version) &&
      isPlain({ ...queue.defaultJobOptions });
  }

  refuses(
    _job: string,
    options: Readonly<Record<string, unknown>> | undefined,
  ): string | undefined {
    for (const name in options) {
      if (!ownOptions.has(name)) continue;
      return name === 'jobId'
        ? "BullMQ's jobId is derived from the job's name and key: give { key } instead of { options: { jobId } }"
        : `the option "${name}" of BullMQ is not for deferred jobs`;
    }
    return undefined;
  }

  open(host: SinkHost): void {
    this.#isOrdered = host.ordered === true;
    const { keys } = this.#queue;
    this.#keys = ['wait', 'meta', 'id', 'active', 'events', 'marker'].map((name) => keys[name]!);
    // The sink connects like the queue, so it waits until the queue is connected.
    this.#link = clientOf(this.#queue).then((client) => {
      if (this.#isClosed) throw new Error('The sink was closed before its queue was connected.');
      const link = new RedisLink(client, host);
      link.client.defineCommand('deferLane', { numberOfKeys: this.#keys.length, lua: laneScript });
      this.#lane = (...words) =>
        (link.client as unknown as { deferLane: Lane }).deferLane(...words);
      return link;
    });
    this.#link.catch((error: unknown) => {
      if (!this.#isClosed) host.warn('The BullMQ queue is closed.', error);
    });
  }

  async send(batch: readonly Delivery[], signal: AbortSignal): Promise<BatchResults> {
    const link = await untilAborted(this.#link!, signal);
    await link.ready(signal);
    if (!this.#hasLane) return this.#addBulk(batch, signal);
    const plain = batch.filter(({ options }) => isPlain(options));
    if (plain.length === batch.length) return this.#writeLane(batch, signal);
    const results = new Map<Delivery, DeliveryResult>();
    for (const part of this.#isOrdered
      ? runs(batch)
      : [plain, batch.filter((d) => !isPlain(d.options))]) {
      if (part.length === 0) continue;
      if (isPlain(part[0]!.options)) await this.#writeLane(part, signal);
      else {
        const outcome = await this.#addBulk(part, signal);
        for (const [index, result] of outcome?.entries() ?? []) results.set(part[index]!, result);
      }
    }
    return results.size === 0 ? undefined : batch.map((delivery) => results.get(delivery));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    // A link that never connected has nothing to close, and waiting for it would never end.
    if (this.#lane !== undefined) await (await this.#link)?.close();
  }

  async #writeLane(batch: readonly Delivery[], signal: AbortSignal): Promise<undefined> {
    const words: string[] = [...this.#keys, this.#queue.keys['']!];
    let name: string | undefined;
    let options: string | undefined;
    let records: PackedRecords | undefined;
    for (const delivery of batch) {
      const own = this.#textOf(delivery);
      if (records === undefined || delivery.job !== name || own !== options) {
        if (records !== undefined) words.push(name!, options!, records.toString());
        ({ job: name } = delivery);
        options = own;
        records = new PackedRecords();
      }
      records.add(identityOf(delivery), delivery.deferredAtMs, delivery.json);
    }
    words.push(name!, options!, records!.toString());
    await untilAborted(this.#lane!(...words), signal);
    return undefined;
  }

  /** Returns the job's options as BullMQ stores them, without its id and time, which the script puts at the start of the text. */
  #textOf({ options, context }: Delivery): string {
    const known = options === undefined ? '' : JSON.stringify(options);
    let text = this.#optionsText.get(known);
    if (text === undefined) {
      text = `,${encode({ attempts: 0, ...this.#queue.defaultJobOptions, ...options })}`;
      if (this.#optionsText.size < 100) this.#optionsText.set(known, text);
    }
    const trace = traceOf(context);
    return trace === undefined ? text : `,"tm":${JSON.stringify(trace)}${text}`;
  }

  async #addBulk(batch: readonly Delivery[], signal: AbortSignal): Promise<BatchResults> {
    const entries = batch.map((delivery) => this.#entryOf(delivery));
    try {
      const jobs = await untilAborted(this.#queue.addBulk(entries), signal);
      const results = jobs.map(({ id }) => refusal(id));
      return results.some((result) => result !== undefined) ? results : undefined;
    } catch (error) {
      if (signal.aborted || isConnectionError(error)) throw error;
    }
    // The options of some job are invalid. Each job added on its own shows if it is the one.
    return Promise.all(
      entries.map(async ({ name, data, opts }) => {
        try {
          await untilAborted(this.#queue.add(name, data, opts), signal);
          return undefined;
        } catch (error) {
          if (signal.aborted || isConnectionError(error)) throw error;
          return dead(error);
        }
      }),
    );
  }

  #entryOf(delivery: Delivery): Entry {
    const trace = traceOf(delivery.context);
    return {
      name: delivery.job,
      data: JSON.parse(delivery.json),
      opts: {
        ...delivery.options,
        jobId: identityOf(delivery),
        timestamp: delivery.deferredAtMs,
        ...(trace === undefined ? {} : { telemetry: { metadata: trace } }),
      },
    };
  }
}

/** `addBulk` returns the code of a failure in place of the job's id, and throws nothing: the job was not added. */
function refusal(id: unknown): DeliveryResult {
  if (!(Number(id) < 0)) return undefined;
  const reason = Number(id) === -5 ? 'its parent does not exist' : `the code is ${String(id)}`;
  return dead(new Error(`BullMQ did not take the job: ${reason}.`));
}

/** Returns the queue's client: BullMQ 5 has it on the queue, 6 on the queue's backend. */
function clientOf(queue: Queue): Promise<Redis> {
  const { client } = 'client' in queue ? (queue as { client: unknown }) : queue.getBackend();
  return client as Promise<Redis>;
}

/** Returns the trace in the form that BullMQ's telemetry for OpenTelemetry reads on the worker's side. */
function traceOf(context: Delivery['context']): string | undefined {
  if (context?.traceparent === undefined) return undefined;
  const { traceparent, tracestate } = context;
  return JSON.stringify(tracestate === undefined ? { traceparent } : { traceparent, tracestate });
}

function isPlain(options: Readonly<Record<string, unknown>> | undefined): boolean {
  for (const name in options) if (!(name in plainOptions)) return false;
  return true;
}

function encode(options: Readonly<Record<string, unknown>>): string {
  const stored: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    const isDelay = name === 'backoff' && typeof value === 'number' && value > 0;
    stored[plainOptions[name]!] = isDelay ? { type: 'fixed', delay: value } : value;
  }
  return JSON.stringify(stored).slice(1);
}

/** Groups neighbouring jobs that are written in the same way. */
function runs(batch: readonly Delivery[]): Delivery[][] {
  const parts: Delivery[][] = [];
  for (const delivery of batch) {
    const last = parts.at(-1);
    if (last !== undefined && isPlain(last[0]!.options) === isPlain(delivery.options)) {
      last.push(delivery);
    } else parts.push([delivery]);
  }
  return parts;
}

/** Replies of Redis to any job while the server is in such a state. */
const ofTheServer =
  /(?:^|\s-?)(?:OOM|READONLY|LOADING|MISCONF|CLUSTERDOWN|MASTERDOWN|NOREPLICAS|BUSY|TRYAGAIN|NOAUTH|NOPERM|WRONGPASS) /;

function isConnectionError(error: unknown): boolean {
  const { name, message = '', code } = error as { name?: string; message?: string; code?: string };
  return (
    code?.startsWith('E') === true ||
    name === 'MaxRetriesPerRequestError' ||
    name === 'AbortError' ||
    /^(Connection is closed|Stream isn't writeable)/.test(message) ||
    // A Redis before 7 reports it within "ERR Error running script … -OOM command not allowed".
    (name === 'ReplyError' && ofTheServer.test(message))
  );
}
