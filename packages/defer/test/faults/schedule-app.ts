// A process that makes up for a missed moment of a schedule, to be killed at a call to the file system, or behind all of it.
import { createDefer, defineJob } from '@redline/defer';
import { handlers } from '@redline/defer/sinks/handlers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Claims } from '../../src/schedule/claims.ts';
import { crashingFs } from './crash-fs.ts';

export interface ScheduleAppSettings {
  directory: string;
  cron: string;
  tickMs: number;
  crash: { call: number; moment: 'before' | 'within' | 'behind' };
}

const { directory, cron, tickMs, crash }: ScheduleAppSettings = JSON.parse(process.argv[2]!);
const job = defineJob('job');
const deferrer = createDefer({
  // It never comes to an end: the job is for the next process.
  sinks: { work: handlers({ job: () => new Promise(() => {}) }) },
  journal: { directory, fs: crashingFs(crash.call, crash.moment) },
});
deferrer.schedule(job, undefined, { cron });
while (new Claims(directory, false).read('job', tickMs)?.isDone !== true) await sleep(1);
process.stdout.write('done', () => process.kill(process.pid, 'SIGKILL'));
