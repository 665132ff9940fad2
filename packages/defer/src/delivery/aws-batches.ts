import { createHash } from 'node:crypto';
import { dead, retry, type DeadResult, type Delivery, type RetryResult } from '../sink.ts';
import { headersOf } from './headers.ts';
import { identityOf } from './identity.ts';

/** Maximum number of jobs in one call of SQS and SNS. */
export const awsBatchJobs = 10;
const maxAttributes = 10;

export type AwsResult = RetryResult | DeadResult | undefined;

export interface AwsEntry {
  Id: string;
  MessageAttributes: Record<string, { DataType: string; StringValue: string }>;
  MessageGroupId?: string;
  MessageDeduplicationId?: string;
}

export interface AwsAnswer {
  Failed?: { Id?: string; SenderFault?: boolean; Code?: string; Message?: string }[] | undefined;
}

/** Returns the parts of an entry that SQS and SNS share. `Id` is its index in the call. */
export function awsEntry(delivery: Delivery, index: number, isFifo: boolean): AwsEntry {
  const attributes = Object.entries(headersOf(delivery))
    .filter(([, value]) => value !== '')
    .slice(0, maxAttributes)
    .map(([name, value]) => [name, { DataType: 'String', StringValue: value }] as const);
  return {
    Id: String(index),
    MessageAttributes: Object.fromEntries(attributes),
    ...(isFifo
      ? {
          MessageGroupId: awsWord(delivery.key ?? delivery.job),
          MessageDeduplicationId: awsWord(identityOf(delivery)),
        }
      : {}),
  };
}

/** Puts as many neighbouring jobs into a call as fit; a job too large for any call has one of its own. */
export function awsBatches(
  batch: readonly Delivery[],
  maxJobs: number,
  maxBytes: number,
): Delivery[][] {
  const calls: Delivery[][] = [];
  let bytes = 0;
  for (const delivery of batch) {
    const size = awsBytes(delivery);
    const last = calls.at(-1);
    if (last === undefined || last.length === maxJobs || bytes + size > maxBytes) {
      calls.push([delivery]);
      bytes = size;
    } else {
      last.push(delivery);
      bytes += size;
    }
  }
  return calls;
}

/** Returns the size of a job, including its attributes. */
export function awsBytes(delivery: Delivery): number {
  let bytes = Buffer.byteLength(delivery.json);
  for (const [name, value] of Object.entries(headersOf(delivery))) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value) + 'String'.length;
  }
  return bytes;
}

/** Returns one result for each job of a call. */
export function awsResults(count: number, { Failed = [] }: AwsAnswer): AwsResult[] {
  const results: AwsResult[] = Array.from({ length: count });
  for (const { Id, SenderFault, Code, Message } of Failed) {
    const error = new Error(`${Code ?? 'Refused'}: ${Message ?? 'no reason was given'}`);
    results[Number(Id)] = SenderFault === true ? dead(error) : retry(error);
  }
  return results;
}

/** Group and deduplication ids are limited to 128 characters of ASCII. */
function awsWord(text: string): string {
  return /^[!-~]{1,128}$/.test(text) ? text : createHash('sha256').update(text).digest('hex');
}
