import { callLater, Date } from './clocks.ts';
import { lookForHttpObserver } from './performance-entries.ts';

let line: string | undefined;

/** Returns the line of the `Date` header, rebuilt at most once a second. */
export function dateLine(): string {
  return (line ??= renew());
}

function renew(): string {
  lookForHttpObserver();
  const now = new Date();
  callLater(forget, 1000 - now.getMilliseconds());
  return `Date: ${now.toUTCString()}\r\n`;
}

function forget(): void {
  line = undefined;
}
