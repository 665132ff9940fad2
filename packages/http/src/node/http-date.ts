import { callLater, Date } from './clocks.ts';
import { lookForHttpObserver } from './performance-entries.ts';

let line: string | undefined;

/** The line of the `Date` header, made once a second at most. */
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
