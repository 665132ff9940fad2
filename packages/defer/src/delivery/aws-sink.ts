import { createHash } from 'node:crypto';
import {
  dead,
  retry,
  type BatchResults,
  type Delivery,
  type DeliveryResult,
  type Sink,
  type SinkHost,
} from '../sink.ts';
import { headersOf, identityOf } from './message.ts';
import { inOrder } from './outcomes.ts';
import { untilAborted } from './until-aborted.ts';

const jobsPerCall = 10;
const maxAttributes = 10;

/** The parts of an entry that SQS and SNS share. `Id` is its index in the call. */
interface AwsEntry {
  Id: string;
  MessageAttributes: Record<string, { DataType: string; StringValue: string }>;
  MessageGroupId?: string;
  MessageDeduplicationId?: string;
}

interface AwsResponse {
  Failed?: { Id?: string; SenderFault?: boolean; Code?: string; Message?: string }[] | undefined;
}

/** Sends one call. `json` is the text of the message. */
type AwsCall = (
  messages: readonly { readonly entry: AwsEntry; readonly json: string }[],
  options: { readonly abortSignal: AbortSignal },
) => Promise<AwsResponse>;

/** The common part of SQS and SNS: ten jobs in a call, a result for each, several calls in parallel. */
export class AwsSink implements Sink {
  readonly kind: string;
  readonly maxJobs = 100;
  readonly maxJobBytes: number;
  readonly #isFifo: boolean;
  readonly #call: AwsCall;
  #isOrdered = false;

  /** @param destination Ends in `.fifo` where messages have groups. */
  constructor(kind: string, destination: string, maxBytes: number, call: AwsCall) {
    this.kind = kind;
    this.maxJobBytes = maxBytes;
    this.#isFifo = destination.endsWith('.fifo');
    this.#call = call;
  }

  open(host: SinkHost): void {
    this.#isOrdered = host.ordered === true;
  }

  async send(batch: readonly Delivery[], signal: AbortSignal): Promise<BatchResults> {
    if (this.#isOrdered) {
      return inOrder(batch, async (delivery) => (await this.#callOnce([delivery], signal))[0]);
    }
    const calls = this.#calls(batch);
    const outcomes = await Promise.allSettled(calls.map((part) => this.#callOnce(part, signal)));
    const first = outcomes[0]!;
    if (first.status === 'rejected' && outcomes.every(({ status }) => status === 'rejected')) {
      throw first.reason;
    }
    const results = outcomes.flatMap((outcome, index): DeliveryResult[] =>
      outcome.status === 'fulfilled'
        ? outcome.value
        : calls[index]!.map(() => retry(outcome.reason)),
    );
    return results.some((result) => result !== undefined) ? results : undefined;
  }

  /* Puts as many neighbouring jobs into a call as fit; a job too large for any call has one of its own. */
  #calls(batch: readonly Delivery[]): Delivery[][] {
    const calls: Delivery[][] = [];
    let bytes = 0;
    for (const delivery of batch) {
      const size = bytesOf(delivery);
      const last = calls.at(-1);
      if (last === undefined || last.length === jobsPerCall || bytes + size > this.maxJobBytes) {
        calls.push([delivery]);
        bytes = size;
      } else {
        last.push(delivery);
        bytes += size;
      }
    }
    return calls;
  }

  async #callOnce(part: readonly Delivery[], signal: AbortSignal): Promise<DeliveryResult[]> {
    const bytes = part.length === 1 ? bytesOf(part[0]!) : 0;
    if (bytes > this.maxJobBytes) {
      return [dead(new Error(`The job has ${bytes} bytes, and ${this.maxJobBytes} is the most.`))];
    }
    const messages = part.map((delivery, index) => ({
      entry: this.#entryOf(delivery, index),
      json: delivery.json,
    }));
    const sent = this.#call(messages, { abortSignal: signal });
    const { Failed = [] } = await untilAborted(sent, signal);
    const results: DeliveryResult[] = Array.from({ length: part.length });
    for (const { Id, SenderFault, Code, Message } of Failed) {
      const error = new Error(`${Code ?? 'Refused'}: ${Message ?? 'no reason was given'}`);
      results[Number(Id)] = SenderFault === true ? dead(error) : retry(error);
    }
    return results;
  }

  #entryOf(delivery: Delivery, index: number): AwsEntry {
    const attributes = Object.entries(headersOf(delivery))
      .filter(([, value]) => value !== '')
      .slice(0, maxAttributes)
      .map(([name, value]) => [name, { DataType: 'String', StringValue: value }] as const);
    return {
      Id: String(index),
      MessageAttributes: Object.fromEntries(attributes),
      ...(this.#isFifo && {
        MessageGroupId: word(delivery.key ?? delivery.job),
        MessageDeduplicationId: word(identityOf(delivery)),
      }),
    };
  }
}

/* Includes the attributes. */
function bytesOf(delivery: Delivery): number {
  let bytes = Buffer.byteLength(delivery.json);
  for (const [name, value] of Object.entries(headersOf(delivery))) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value) + 'String'.length;
  }
  return bytes;
}

/** Group and deduplication ids are limited to 128 characters of ASCII. */
function word(text: string): string {
  return /^[!-~]{1,128}$/.test(text) ? text : createHash('sha256').update(text).digest('hex');
}
