import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { SinkQueueOptions, Sink } from '@redline/defer';
import type { AccessRecord } from './access-record.ts';
import { openQueue, type JobQueue } from './job-queue.ts';

/** The queue, and how many jobs it has yet to take. */
@Injectable()
export class WatchedQueue implements OnApplicationShutdown {
  readonly #queue: JobQueue = openQueue();
  /** Jobs the queue has taken since the start. */
  taken = 0;

  async add(record: AccessRecord): Promise<void> {
    await this.#queue.add(record);
    this.taken += 1;
  }

  sink(): SinkQueueOptions {
    const { sink, ...sinkOptions } = this.#queue.sink();
    return { ...sinkOptions, sink: this.#watch(sink) };
  }

  empty(): Promise<void> {
    return this.#queue.empty();
  }

  onApplicationShutdown(): Promise<void> {
    return this.#queue.close();
  }

  #watch(sink: Sink): Sink {
    const { send } = sink;
    sink.send = async (batch, signal) => {
      const results = await send.call(sink, batch, signal);
      this.taken += batch.length;
      return results;
    };
    return sink;
  }
}
