import { DeferError } from '../errors.ts';
import type { DeferLogger } from '../options.ts';
import type { Damage } from './recover.ts';

/** What recovery found, in the log of the app: a torn end quietly, as it is normal, anything else loudly. */
export function tellDamage({ file, offset, bytes, kind, jobs }: Damage, logger: DeferLogger): void {
  if (kind === 'torn') {
    logger.log(
      `defer: ${file} ends in ${bytes} bytes of a write that a crash cut off; none of it was acknowledged.`,
    );
    return;
  }
  if (kind === 'missing' || kind === 'unreadable') {
    const message =
      kind === 'missing'
        ? `${file} is missing or empty, and up to ${jobs} jobs with it; all others are read.`
        : `${file} cannot be read; it is kept as damaged-*, and all else is read.`;
    logger.warn(`defer: ${message}`, new DeferError('ERR_REDLINE_DEFER_DAMAGED', message));
    return;
  }
  const sentence = {
    damaged: 'the jobs in them are lost; what follows is read, and the file is kept as damaged-*',
    header: 'its jobs are read all the same, and the file is kept as damaged-*',
    checkpoint: 'it is done without, and some jobs may be sent twice',
  }[kind];
  const message = `${file} has ${bytes} bytes at ${offset} that are not what was written; ${sentence}.`;
  logger.warn(`defer: ${message}`, new DeferError('ERR_REDLINE_DEFER_DAMAGED', message));
}
