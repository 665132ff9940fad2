// A process that replaces, puts off and cancels one job again and again, to be killed at a call to the file system.
import { writeSync } from 'node:fs';
import { createDefer, defineJob, type Level } from '@redline/defer';
import { handlers } from '@redline/defer/sinks/handlers';
import { crashingFs } from './crash-fs.ts';
import { steps } from './keyed-steps.ts';

export interface KeyedAppSettings {
  directory: string;
  level: Level;
  crash: { call: number; moment: 'before' | 'within' | 'behind' };
}

const { directory, level, crash }: KeyedAppSettings = JSON.parse(process.argv[2]!);
const job = defineJob<number>('job', { level });
const deferrer = createDefer({
  sinks: { work: handlers({ job: () => {} }) },
  // A file holds two or three of them.
  journal: { directory, segmentBytes: 300, fs: crashingFs(crash.call, crash.moment) },
  logger: false,
});
await deferrer.ready();
for (const [at, { onDuplicate }] of steps.entries()) {
  if (onDuplicate === undefined) {
    await deferrer.cancel(job, 'k');
  } else {
    const options = { key: 'k', onDuplicate, runAt: Date.UTC(2100, 0) };
    await deferrer.defer(job, at, options).acknowledged();
  }
  writeSync(1, `${at}\n`);
}
writeSync(1, 'end\n');
process.kill(process.pid, 'SIGKILL');
