import { channel } from 'node:diagnostics_channel';
import { http } from './node-http.ts';
import { symbolOf } from './node-internals.ts';

// Node makes `http` entries for PerformanceObserver in the constructor of its ServerResponse, and tells nobody whether an
// observer is there. A response made for the sake of looking shows it: then responses are Node's own.

const created = channel('http.server.response.created');
const question = { method: 'GET', url: '/', headers: {}, httpVersionMajor: 1, httpVersionMinor: 1 };

let isObserved = false;

/** Whether a PerformanceObserver wants to hear of requests, as of a second ago at most. */
export function hasHttpObserver(): boolean {
  return isObserved;
}

/** Looks. New connections and every new second of the `Date` header are occasions. */
export function lookForHttpObserver(): void {
  // Whoever traces responses would take the question for one.
  if (created.hasSubscribers) return;
  const response = new http.ServerResponse(question as never);
  isObserved = symbolOf(response, 'ServerResponseStatistics') !== undefined;
}
