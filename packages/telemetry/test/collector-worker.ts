// Writes a request, and ends before anything reads it; or writes until it is ended.
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { type JsSettings, loadAddon } from '../native.cjs';
import { Ring } from './write.ts';

interface Data extends JsSettings {
  readonly isBusy?: boolean;
}

const settings = (workerData ?? JSON.parse(process.env['SETTINGS']!)) as Data;
const { Collector } = loadAddon();
const collector = new Collector(settings);
const ring = new Ring();
collector.addSource(null, ring.words);
writeRequest(ring);
if (isMainThread) process.stdout.write('ended\n');
if (settings.isBusy === true) {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort!.postMessage('busy');
  for (;;) {
    const more = new Ring();
    const source = collector.addSource(new Ring().words, more.words);
    for (let number = 0; number < 300; number++) writeRequest(more);
    collector.wake();
    collector.removeSource(source);
  }
}

function writeRequest(to: Ring): void {
  to.begin([1, 1, 1], 'GET /worker\r\n');
  to.end([1, 1, 1], 200);
}
