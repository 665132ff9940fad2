// Lives of an app with a sealed journal, and the files they leave.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createDefer } from '../src/create-defer.ts';
import type { Deferrer } from '../src/deferrer.ts';
import { DeferError } from '../src/errors.ts';
import { defineJob, type JobDefinition } from '../src/job/job.ts';
import type { DeferOptions } from '../src/options.ts';
import type { SealOptions } from '../src/seal/seal-options.ts';
import { dead } from '../src/sink.ts';
import { until } from '@redline/services/until';
import { TestLogger, TestSink, turns } from './harness.ts';

export const job: JobDefinition<{ secret: string }> = defineJob('job');
export const secret = 'the-secret-of-a-customer';

export function keyOf(id: string): Buffer {
  return createHash('sha256').update(id).digest();
}

/** Callbacks that know these keys; the first of them seals. */
export function seal(...ids: string[]): SealOptions {
  return {
    currentKey: () => ({ id: ids[0]!, key: keyOf(ids[0]!) }),
    keyOf: (id) => (ids.includes(id) ? keyOf(id) : undefined),
  };
}

/** The same as a KMS would: later. */
export function sealLater(...ids: string[]): SealOptions {
  const now = seal(...ids);
  return {
    currentKey: async () => turns().then(() => now.currentKey()),
    keyOf: async (id) => turns().then(() => now.keyOf(id)),
  };
}

export interface Life {
  readonly deferrer: Deferrer;
  readonly sink: TestSink;
  readonly logger: TestLogger;
}

export function live(
  directory: string,
  sealed: SealOptions | undefined,
  { journal, ...options }: Partial<DeferOptions> = {},
): Life {
  const sink = new TestSink();
  const logger = new TestLogger();
  const deferrer = createDefer<string>({
    sinks: {
      test: {
        sink,
        batch: { waitMs: 0 },
        breaker: { minMs: 1, maxMs: 2 },
        retry: { attempts: 1 },
      },
    },
    journal: { directory, adoptEveryMs: 5, ...(sealed && { seal: sealed }), ...journal },
    level: 'process',
    handleSignals: false,
    logger,
    ...options,
  });
  return { deferrer, sink, logger };
}

/** Jobs that a life leaves, since its sink is away. */
export async function leave(
  directory: string,
  sealed: SealOptions | undefined,
  texts: readonly string[],
  options: Partial<DeferOptions> = {},
): Promise<void> {
  const { deferrer, sink } = live(directory, sealed, options);
  sink.answer = () => {
    throw new Error('away');
  };
  await deferrer.ready();
  await Promise.all(texts.map((text) => deferrer.defer(job, { secret: text }).acknowledged()));
  await deferrer.close({ drainMs: 0 });
}

/** A dead letter that a life leaves. */
export async function leaveDead(directory: string, sealed: SealOptions): Promise<void> {
  const { deferrer, sink } = live(directory, sealed);
  sink.answer = (batch) => batch.map(() => dead(new Error('no')));
  await deferrer.defer(job, { secret: 'a' }).acknowledged();
  await until('the letter', () => deferrer.deadLetters.size === 1);
  await deferrer.close();
}

export async function receive(
  t: TestContext,
  directory: string,
  sealed: SealOptions | undefined,
  count: number,
): Promise<Life> {
  const life = live(directory, sealed);
  t.after(() => life.deferrer.close());
  await life.deferrer.ready();
  await until('the jobs', () => life.sink.data.length >= count);
  return life;
}

export function secretsOf({ sink }: Life): string[] {
  return (sink.data as { secret: string }[]).map((each) => each.secret).toSorted();
}

/** Every file below the directory with its bytes. */
export function contentOf(directory: string): Map<string, string> {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(directory, name)).isFile(),
  );
  return new Map(files.map((name) => [name, readFileSync(join(directory, name), 'latin1')]));
}

export function assertNothingInClear(directory: string): void {
  for (const [name, text] of contentOf(directory)) {
    for (const clear of [secret, 'customer-key', 'tenant-', 'nightly']) {
      assert.ok(!text.includes(clear), `${clear} in ${name}`);
    }
  }
}

export function segmentsIn(directory: string): string[] {
  return [...contentOf(directory).keys()]
    .filter((name) => name.endsWith('.seg'))
    .map((name) => join(directory, name))
    .toSorted();
}

export function isSealError(error: unknown): boolean {
  return error instanceof DeferError && error.code === 'ERR_REDLINE_DEFER_SEAL';
}
