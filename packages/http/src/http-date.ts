import { lookForHttpObserver } from './performance-entries.ts';

let date: string | undefined;

/** The time as the `Date` header has it, made once a second at most. */
export function httpDate(): string {
  return (date ??= renew());
}

function renew(): string {
  lookForHttpObserver();
  const now = new Date();
  setTimeout(forget, 1000 - now.getMilliseconds()).unref();
  return now.toUTCString();
}

function forget(): void {
  date = undefined;
}
