// An app on one of the frameworks in a process or a thread of its own, for tests that end it.
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { defer, defineJob, type DeferOptions, type Level } from '@redline/defer';
import { handlers } from '@redline/defer/sinks/handlers';
import { apps, type App } from './deferred-apps.ts';

export interface AloneSettings {
  readonly framework: string;
  /** The journal lies in `journal`, the data of what was done in `done`; a file called `mended` heals what is broken. */
  readonly directory: string;
  /** No job is done. */
  readonly isAway?: boolean;
}

export type AloneMessage = { readonly url: string } | { readonly depth: number; letters: number };

const settings: AloneSettings =
  (workerData as AloneSettings | null) ?? JSON.parse(process.argv[2]!);
const { framework, directory } = settings;

function note(data: string): void {
  appendFileSync(join(directory, 'done'), `${data}\n`);
}

const work = handlers({
  good: note,
  poison(data: string) {
    note(data);
    process.kill(process.pid, 'SIGKILL');
    return new Promise(() => {});
  },
  broken(data: string) {
    if (existsSync(join(directory, 'mended'))) return note(data);
    throw Object.assign(new Error('It is broken.'), { retryable: false });
  },
});
const options: DeferOptions = {
  sinks: {
    test: settings.isAway
      ? { kind: 'away', send: () => Promise.reject(new Error('It is away.')) }
      : work,
  },
  journal: { directory: join(directory, 'journal'), adoptEveryMs: 50 },
  handleSignals: false,
  logger: false,
};
const app: App = await apps[framework]!(options, (level, name, data) => {
  defer(defineJob<string>(name), data, { level: level as Exclude<Level, 'outbox'> });
});
function send(message: AloneMessage): void {
  if (parentPort === null) process.send!(message);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port has no origins
  else parentPort.postMessage(message);
}
// What others left is there by now.
await app.deferrer.ready();
send({ url: app.url });
process.on('message', () => {
  const { deadLetters, queues } = app.deferrer;
  send({ depth: queues.get('test')!.depth, letters: deadLetters.size });
});
