// Writes a request, and ends before anything reads it.
import { isMainThread, workerData } from 'node:worker_threads';
import { type JsSettings, loadAddon } from '../native.cjs';
import { Ring } from './write.ts';

const settings = (workerData ?? JSON.parse(process.env['SETTINGS']!)) as JsSettings;
const ring = new Ring();
const { Collector } = loadAddon();
new Collector(settings).addSource(null, ring.words);
ring.begin([1, 1, 1], 'GET /worker\r\n');
ring.end([1, 1, 1], 200);
if (isMainThread) process.stdout.write('ended\n');
