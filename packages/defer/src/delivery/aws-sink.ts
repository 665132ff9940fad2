import { dead, type Delivery, type DeliveryResult, type Sink, type SinkHost } from '../sink.ts';
import { awsBatches, awsBatchJobs, awsBytes, awsResults, type AwsAnswer } from './aws-batches.ts';
import { inOrder } from './outcomes.ts';
import { untilAborted } from './until-aborted.ts';

/** The common part of SQS and SNS: ten jobs in a call, a result for each, several calls in parallel. */
export abstract class AwsSink implements Sink {
  abstract readonly kind: string;
  readonly maxJobs = 100;
  readonly maxJobBytes: number;
  readonly #maxBytes: number;
  #isOrdered = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.maxJobBytes = maxBytes;
  }

  protected abstract call(part: readonly Delivery[], signal: AbortSignal): Promise<AwsAnswer>;

  open(host: SinkHost): void {
    this.#isOrdered = host.ordered === true;
  }

  async send(
    batch: readonly Delivery[],
    signal: AbortSignal,
  ): Promise<readonly DeliveryResult[] | undefined> {
    if (this.#isOrdered) {
      return inOrder(batch, async (delivery) => (await this.#callOnce([delivery], signal))[0]);
    }
    const calls = awsBatches(batch, awsBatchJobs, this.#maxBytes);
    const outcomes = await Promise.allSettled(calls.map((part) => this.#callOnce(part, signal)));
    const first = outcomes[0]!;
    if (first.status === 'rejected' && outcomes.every(({ status }) => status === 'rejected')) {
      throw first.reason;
    }
    const results = outcomes.flatMap((outcome, index): DeliveryResult[] =>
      outcome.status === 'fulfilled'
        ? outcome.value
        : calls[index]!.map(() => ({ kind: 'retry', error: outcome.reason, afterMs: undefined })),
    );
    return results.some((result) => result !== undefined) ? results : undefined;
  }

  async #callOnce(part: readonly Delivery[], signal: AbortSignal): Promise<DeliveryResult[]> {
    const bytes = part.length === 1 ? awsBytes(part[0]!) : 0;
    if (bytes > this.#maxBytes) {
      return [dead(new Error(`The job has ${bytes} bytes, and ${this.#maxBytes} is the most.`))];
    }
    const answer = await untilAborted(this.call(part, signal), signal);
    return awsResults(part.length, answer);
  }
}
