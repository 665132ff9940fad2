import { systemClock } from '../clock.ts';
import type { Delivery, Sink, SinkHost } from '../sink.ts';

let count = 0;

/** Returns one job on its way, as the core would hand it over. */
export function delivery(given: Partial<Delivery> & { data?: unknown } = {}): Delivery {
  const { data, ...rest } = given;
  count += 1;
  const json = rest.json ?? JSON.stringify(data ?? { n: count });
  return {
    id: `t${process.pid.toString(36)}-${count.toString(36)}`,
    job: 'send-mail',
    key: undefined,
    deferredAtMs: Date.now(),
    attempt: 1,
    context: undefined,
    options: undefined,
    redelivered: false,
    run: (work) => work(),
    ...rest,
    json,
    length: json.length,
  };
}

export function deliveries(howMany: number, given: Partial<Delivery> = {}): Delivery[] {
  return Array.from({ length: howMany }, (_, n) => delivery({ data: { n }, ...given }));
}

export interface SpyHost extends SinkHost {
  readonly generations: string[];
  readonly warnings: string[];
  readonly availability: boolean[];
}

export function host(ordered: boolean | 'key' = false): SpyHost {
  const generations: string[] = [];
  const warnings: string[] = [];
  const availability: boolean[] = [];
  return {
    name: 'test',
    ordered,
    sendTimeoutMs: 30_000,
    clock: systemClock,
    generations,
    warnings,
    availability,
    generation: (id) => void generations.push(id),
    available: (is) => void availability.push(is),
    warn: (message, error) => void warnings.push(`${message} ${String(error ?? '')}`),
  };
}

export interface Journey {
  dead: Delivery[];
  /** Number of rejected sends: the sink was unavailable. */
  outages: number;
}

/**
 * Brings all jobs to the sink with the patience of the core: resends whatever was not acknowledged, in batches of at most
 * 50, two at a time.
 * @param answerMs Time limit of a batch; after that it is sent again.
 */
export async function bringAll(
  sink: Sink,
  jobs: readonly Delivery[],
  onProgress: (acknowledged: number, outages: number) => unknown = () => {},
  answerMs = 3_000,
): Promise<Journey> {
  const open = [...jobs];
  const journey: Journey = { dead: [], outages: 0 };
  let acknowledged = 0;
  const sender = async (): Promise<void> => {
    for (let part = open.splice(0, 50); part.length > 0; part = open.splice(0, 50)) {
      try {
        const results = await sink.send(part, AbortSignal.timeout(answerMs));
        if (results?.some((result) => result?.kind === 'retry') === true) {
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
        for (const [index, each] of part.entries()) {
          const result = results?.[index];
          if (result?.kind === 'retry') open.push(again(each));
          else if (result?.kind === 'dead') journey.dead.push(each);
          else acknowledged += 1;
        }
      } catch {
        journey.outages += 1;
        open.push(...part.map(again));
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      await onProgress(acknowledged, journey.outages);
    }
  };
  await Promise.all([sender(), sender()]);
  return journey;
}

function again(each: Delivery): Delivery {
  return { ...each, attempt: each.attempt + 1, redelivered: true };
}
