import { channel } from 'node:diagnostics_channel';
import { http } from './node-http.ts';
import { symbolOf } from './node-internals.ts';

// Node makes `http` entries for PerformanceObserver in the constructor of its ServerResponse, and does not reveal whether an
// observer is there. A response made only to look shows it; then responses are Node's own.

const created = channel('http.server.response.created');
const question = { method: 'GET', url: '/', headers: {}, httpVersionMajor: 1, httpVersionMinor: 1 };

let isObserved = false;

/** Whether a PerformanceObserver observes requests, as of at most a second ago. */
export function hasHttpObserver(): boolean {
  return isObserved;
}

/** Looks. New connections and every new second of the `Date` header are occasions. */
export function lookForHttpObserver(): void {
  // A tracing tool would take the probe for a response.
  if (created.hasSubscribers) return;
  const response = new http.ServerResponse(question as never);
  isObserved = symbolOf(response, 'ServerResponseStatistics') !== undefined;
}
