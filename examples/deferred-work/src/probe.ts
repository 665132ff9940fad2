import { setTimeout as sleep } from 'node:timers/promises';
import { Controller, Get, Inject } from '@nestjs/common';
import { WatchedQueue } from './watched-queue.ts';

const mostMs = 20_000;
/** A queue has no more to give when nothing has arrived for so long: longer than a batch waits, and than the slowest sink takes. */
const settledMs = 60;

/**
 * For benchmarks. Answers when the queue has taken everything, so that no variant's leftovers disturb the next one's
 * turn, and says how long that took.
 */
@Controller()
export class ProbeController {
  constructor(@Inject(WatchedQueue) private readonly queue: WatchedQueue) {}

  @Get('probe')
  async probe(): Promise<{ drainMs: number; jobsLeft: number }> {
    const start = performance.now();
    const takenAtStart = this.queue.taken;
    let { taken } = this.queue;
    let drainedAt = start;
    while (performance.now() - drainedAt < settledMs && performance.now() - start < mostMs) {
      await sleep(5);
      if (this.queue.taken === taken) continue;
      ({ taken } = this.queue);
      drainedAt = performance.now();
    }
    await this.queue.empty();
    return { drainMs: drainedAt - start, jobsLeft: taken - takenAtStart };
  }
}
