// A server on a thread of its own, whose handlers keep it busy until the client has what it waits for.
import * as node from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import * as redline from '../../src/index.ts';

export interface BusyServer {
  isNative: boolean;
  isThreaded: boolean;
  /** 0: the client goes on writing; 1: the server may go on; 2: the client has what it waits for. */
  signal: Int32Array;
  /** 1: a handler waits for the client to go on. */
  held: Int32Array;
}

const { isNative, isThreaded, signal, held } = workerData as BusyServer;
const port = parentPort!;
const patienceMs = 10_000;
let handled = 0;
let turns = 0;

/** Keeps the thread from doing anything else. */
function waitFor(value: number): boolean {
  for (;;) {
    const now = Atomics.load(signal, 0);
    if (now >= value) return true;
    if (Atomics.wait(signal, 0, now, patienceMs) === 'timed-out') return false;
  }
}

function spin(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

const listener: node.RequestListener = (request, response) => {
  const [, doing, argument] = request.url!.split('/');
  if (doing === 'answer') {
    response.end('answered');
  } else if (doing === 'hold') {
    // Until the client has written all it wants to write at once.
    Atomics.store(held, 0, 1);
    response.end(String(waitFor(1)));
    Atomics.store(held, 0, 0);
  } else if (doing === 'last-of') {
    // The last one keeps all others waiting that have not left by then.
    if (++handled === Number(argument)) {
      handled = 0;
      waitFor(2);
    }
    response.end('answered');
  } else if (doing === 'promise') {
    spin(1);
    if (++handled === Number(argument)) {
      handled = 0;
      waitFor(2);
    }
    void Promise.resolve().then(() => response.end('answered'));
  } else if (doing === 'answer-and-block') {
    response.end('answered');
    waitFor(2);
  } else if (doing === 'answer-later-and-block') {
    setTimeout(() => {
      response.end('answered');
      waitFor(2);
    }, 1);
  } else if (doing === 'write-and-block') {
    // Shorter than a packet of the loopback, and long enough to be sent from where it lies.
    response.write(`${'x'.repeat(30_000)} written`, () => waitFor(2));
  } else if (doing === 'toil') {
    if (turns === 0) setTimeout(() => (turns = -1));
    if (turns >= 0) turns++;
    spin(Number(argument));
    response.end(turns === -1 ? 'the timer was first' : 'before the timer');
  }
};

const server = isNative
  ? redline.createServer(isThreaded ? ({ threaded: true } as never) : {}, listener)
  : node.createServer(listener);
server.listen(0, '127.0.0.1', () => port.postMessage((server.address() as AddressInfo).port));
