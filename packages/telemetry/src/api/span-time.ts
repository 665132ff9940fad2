import type { HrTime, TimeInput } from '@opentelemetry/api';
import { addHrTimes, isTimeInputHrTime, millisToHrTime } from '@opentelemetry/core';
import { epochMs, epochNow, now } from '../native/clock.ts';
import type { RingWriter } from '../native/ring-writer.ts';

/**
 * A number of the monotonic clock, as `performance.now()` returns it, or a time since 1970 that a user gives: a Date, an HrTime, or
 * a number above `performance.now()`.
 */
export type SpanTime = number | HrTime;

/** Returns the time that a user gives; undefined if it is none. */
export function givenTime(input: TimeInput | undefined): SpanTime | undefined {
  if (typeof input === 'number') return input <= now() ? input : millisToHrTime(input);
  if (input instanceof Date) return millisToHrTime(input.getTime());
  return input !== undefined && isTimeInputHrTime(input) ? input : undefined;
}

/** Returns the current time, on the clock of another one. */
export function nowOnClockOf(time: SpanTime): SpanTime {
  return typeof time === 'number' ? now() : millisToHrTime(epochNow());
}

/** Returns a time since 1970. */
export function epochTime(time: SpanTime): HrTime {
  return typeof time === 'number' ? millisToHrTime(epochMs(time)) : time;
}

/** Returns the start of a span, in whole milliseconds: a Date of the same moment does not precede it. */
export function epochStart(time: SpanTime): HrTime {
  return typeof time === 'number' ? millisToHrTime(Math.floor(epochMs(time))) : time;
}

/** Returns the time since 1970 of `time`, if that of `from` is `epoch`. */
export function epochAfter(epoch: HrTime, from: SpanTime, time: SpanTime): HrTime {
  if (typeof time !== 'number' || typeof from !== 'number') return epochTime(time);
  return addHrTimes(epoch, millisToHrTime(time - from));
}

export function writeTime(writer: RingWriter, time: SpanTime): void {
  if (typeof time === 'number') writer.time(time);
  else writer.epoch(time[0], time[1]);
}
