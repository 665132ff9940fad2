import { once } from 'node:events';
import { parentPort, type MessagePort } from 'node:worker_threads';
import { closeServers, endConnections, shareServers } from '../server/shared-servers.ts';

// The first module of a `runThreads` thread: runs the entry, and ends the thread on request.

interface Entry {
  readonly close?: () => unknown;
}

const [{ entry, port }] = (await once(parentPort!, 'message')) as [
  { entry: string; port: MessagePort },
];
// The parent port now belongs to the application, and keeps the thread alive only if the application listens on it.
parentPort!.unref();
shareServers();

let application: Entry = {};
port.once('message', () => void stop());
port.unref();
application = (await import(entry)) as Entry;
port.postMessage('started');

async function stop(): Promise<void> {
  endConnections();
  await application.close?.();
  await closeServers();
  process.exit(0);
}
