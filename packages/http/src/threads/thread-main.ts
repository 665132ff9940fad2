import { once } from 'node:events';
import { parentPort, type MessagePort } from 'node:worker_threads';
import { closeServers, endConnections, shareServers } from '../server/shared-servers.ts';

// The first module of a thread of `runThreads`: it runs the entry, and ends the thread when asked to.

interface Entry {
  readonly close?: () => unknown;
}

const [{ entry, port }] = (await once(parentPort!, 'message')) as [
  { entry: string; port: MessagePort },
];
// From here on the port is the application's, and keeps the thread alive only if it listens.
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
