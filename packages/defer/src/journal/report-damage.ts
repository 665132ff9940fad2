import { DeferError } from '../errors.ts';
import type { DeferLogger } from '../logger.ts';
import type { Damage } from './recover.ts';

/** Logs what recovery found: a torn end as information, because it is normal, anything else as a warning. */
export function reportDamage(
  { file, offset, bytes, kind, jobs }: Damage,
  logger: DeferLogger,
): void {
  if (kind === 'torn') {
    logger.log(
      `defer: ${file} ends with ${bytes} bytes of a write that a crash interrupted; none of it was acknowledged.`,
    );
    return;
  }
  if (kind === 'cut') {
    const message = `${file} ends at ${offset + bytes}, and ${jobs} jobs behind that are missing: they are lost. Everything else is read, and the file is kept as damaged-*.`;
    logger.warn(`defer: ${message}`, new DeferError('ERR_REDLINE_DEFER_DAMAGED', message));
    return;
  }
  if (kind === 'missing' || kind === 'unreadable') {
    const message =
      kind === 'missing'
        ? `${file} is missing or empty, with up to ${jobs} jobs; all others are read.`
        : `${file} cannot be read; it is kept as damaged-*, and everything else is read.`;
    logger.warn(`defer: ${message}`, new DeferError('ERR_REDLINE_DEFER_DAMAGED', message));
    return;
  }
  const sentence = {
    damaged: 'the jobs in them are lost; the rest is read, and the file is kept as damaged-*',
    header: 'its jobs are still read, and the file is kept as damaged-*',
    checkpoint: 'it is ignored, and some jobs may be sent twice',
  }[kind];
  const count = jobs === undefined ? '' : `, with up to ${jobs} jobs`;
  const message = `${file} has ${bytes} damaged bytes at ${offset}${count}; ${sentence}.`;
  logger.warn(`defer: ${message}`, new DeferError('ERR_REDLINE_DEFER_DAMAGED', message));
}
