import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@redline/services';
// Built: the preload is loaded by the app, whatever started it.
import { CallsWatch } from '../../dist/calls-out/calls-watch.js';
import { summariseCalls } from '../../dist/calls-out/summarise-calls.js';
import type { CallsSummary } from '../../dist/calls-out/result.js';
import type { RequestCalls } from '../../dist/calls-out/preload/protocol.js';

export interface WatchedRoute {
  requests: RequestCalls[];
  summary: CallsSummary | undefined;
  /** The same as without the recorder. */
  body: string;
}

export const appFile = (name: string): string =>
  fileURLToPath(new URL(`./apps/${name}`, import.meta.url));

/** An app of the tests, with the recorder in it. */
export class WatchedApp implements AsyncDisposable {
  readonly #stop: () => Promise<void>;
  readonly #watch: CallsWatch;
  readonly #url: string;
  readonly #folder: string;

  private constructor(url: string, folder: string, watch: CallsWatch, stop: () => Promise<void>) {
    this.#url = url;
    this.#folder = folder;
    this.#watch = watch;
    this.#stop = stop;
  }

  static async start(
    app: string,
    env: NodeJS.ProcessEnv,
    args: string[] = [],
  ): Promise<WatchedApp> {
    const folder = await mkdtemp(join(tmpdir(), 'redline-calls-'));
    const watch = await CallsWatch.listen(join(folder, 'calls'));
    const port = await freePort();
    const child = spawn(process.execPath, [...args, appFile(app)], {
      env: {
        ...process.env,
        ...env,
        PORT: String(port),
        ...watch.environment(process.env['NODE_OPTIONS']),
      },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const exited = once(child, 'exit');
    const url = `http://127.0.0.1:${port}`;
    const stop = async (): Promise<void> => {
      child.kill('SIGKILL');
      await exited;
      await watch[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    };
    for (;;) {
      if (child.exitCode !== null) {
        await stop();
        throw new Error(`${app} exited with ${child.exitCode}`);
      }
      if (await fetch(url).catch(() => undefined)) break;
      await sleep(20);
    }
    return new WatchedApp(url, dirname(appFile(app)), watch, stop);
  }

  /** Requests a route without the recorder, to open its connections, and then with it. */
  async route(path: string, times = 6): Promise<WatchedRoute> {
    const ask = async (): Promise<string> => (await fetch(this.#url + path)).text();
    for (let count = 0; count < 4; count++) await ask();
    const body = await ask();
    const bodies = new Set<string>();
    const requests = await this.#watch.record(
      async (index) => {
        if (index < times) bodies.add(await ask());
      },
      { signal: AbortSignal.timeout(60_000) },
    );
    bodies.delete(body);
    if (bodies.size > 0) throw new Error(`${path} responds differently: ${[...bodies].join(', ')}`);
    return { requests, summary: summariseCalls(requests, { folder: this.#folder }), body };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stop();
  }
}

/** Returns the calls of a route in one line each, as `3 × SELECT …, together, by getUser`. */
export function lines(summary: CallsSummary | undefined): string[] {
  return (summary?.callers ?? []).flatMap(({ name, groups }) =>
    groups.map(({ count, text, order }) => `${name}: ${count} × ${text} (${order})`),
  );
}
