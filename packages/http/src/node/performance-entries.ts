import { channel } from 'node:diagnostics_channel';
import { http } from './node-http.ts';
import { symbolOf } from './node-internals.ts';

// Node creates `http` entries for PerformanceObserver in the constructor of its ServerResponse, and has no API to detect an
// observer. A probe response reveals it; while there is one, responses are Node's own.

const created = channel('http.server.response.created');
const question = { method: 'GET', url: '/', headers: {}, httpVersionMajor: 1, httpVersionMinor: 1 };

let isObserved = false;

/** Returns true if a PerformanceObserver observes requests, as of at most a second ago. */
export function hasHttpObserver(): boolean {
  return isObserved;
}

/** Probes for an observer. Called for new connections and every new second of the `Date` header. */
export function lookForHttpObserver(): void {
  // A tracing tool would count the probe as a response.
  if (created.hasSubscribers) return;
  const response = new http.ServerResponse(question as never);
  isObserved = symbolOf(response, 'ServerResponseStatistics') !== undefined;
}
