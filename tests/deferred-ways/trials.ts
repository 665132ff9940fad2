import assert from 'node:assert/strict';
import { request } from 'node:http';
import { describe, test } from 'node:test';
import { defineJob, nodeFs, type JournalFs, type Level, type Sink } from '@redline/defer';
import { until } from '@redline/services/until';
import { temporaryFolder } from '../../packages/defer/test/harness.ts';
import { platforms, type Handle } from './platforms.ts';
import { openShared, ownWays, unseen } from './ways.ts';

const order = defineJob<string>('order');
const boundary = 'redline';
const body = `--${boundary}\r\ncontent-disposition: form-data; name="f"; filename="a.txt"\r\ncontent-type: text/plain\r\n\r\nhello\r\n--${boundary}--\r\n`;

/** Posts a file in two pieces. Resolves with the status of a response that is complete, or why it is not. */
async function post(port: number, path: string): Promise<number | string> {
  return new Promise((resolve) => {
    const headers = {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': body.length,
    };
    const sent = request(
      { port, host: '127.0.0.1', path: encodeURI(path), method: 'POST', headers, agent: false },
      (response) => {
        response.on('data', () => {});
        response.on('close', () => resolve(response.complete ? response.statusCode! : 'cut off'));
        response.on('error', () => {});
      },
    );
    sent.on('error', (error) => resolve(error.message));
    sent.write(body.slice(0, 60), () => setImmediate(() => sent.end(body.slice(60))));
  });
}

class Orders implements Sink {
  readonly kind = 'orders';
  readonly got = new Set<string>();

  async send(batch: Parameters<Sink['send']>[0]): Promise<void> {
    for (const { json } of batch) this.got.add(JSON.parse(json) as string);
  }
}

export interface Part {
  readonly platforms: readonly string[];
  readonly levels: readonly Level[];
}

/** A response below 400 has its level, and a job that is meant for its success runs: by every way, on the platforms. */
export function testWays({ platforms: names, levels }: Part): void {
  for (const name of names) {
    describe(name, () => {
      for (const level of levels) {
        test(`a response below 400 has the level ${level}, by every way into its handler`, async (t) => {
          const shared = await openShared();
          let isFull = false;
          const fs: JournalFs = {
            ...nodeFs,
            writeSync(...args) {
              if (isFull) throw Object.assign(new Error('ENOSPC: no space'), { code: 'ENOSPC' });
              return nodeFs.writeSync(...args);
            },
          };
          const handle: Handle = (deferrer, url, message, response, answer) => {
            const [, way, when, status, id] = decodeURIComponent(url).split('/');
            const run = shared.ways[way!];
            if (run === undefined) return answer(404);
            void run(message, response, () => {
              try {
                deferrer.defer(order, id!, {
                  level,
                  when: when as 'always',
                  ...(unseen.has(way!) && { request: message }),
                });
              } catch (error) {
                return answer((error as { statusCode?: number }).statusCode ?? 500);
              }
              return answer(Number(status));
            });
          };
          const sink = new Orders();
          const app = await platforms[name]!(
            {
              sinks: { test: sink },
              journal: { directory: temporaryFolder(t), fs },
              handleSignals: false,
              logger: false,
              drainMs: 0,
            },
            handle,
          );
          t.after(async () => {
            isFull = false;
            await app.close();
            await shared.close();
          });
          const ways = Object.keys(shared.ways);
          const ask = (way: string, when: string, status: number, id: string) =>
            post(app.port, `/${way}/${when}/${status}/${id}`);

          await Promise.all(
            ways.map(async (way) => assert.equal(await ask(way, 'always', 200, way), 200, way)),
          );
          await until('the jobs', () => ways.every((way) => sink.got.has(way)));

          const lost: string[] = [];
          for (const way of ways) {
            // The first one fails, and in its context run the others.
            const [failed, ...others] = await Promise.all(
              ['A', 'B', 'C'].map((id, at) => ask(way, 'success', at === 0 ? 500 : 200, id + way)),
            );
            assert.equal(failed, 500, way);
            assert.deepEqual(others, [200, 200], way);
          }
          const missing = (): string[] =>
            ways.filter((way) => !sink.got.has(`B${way}`) || !sink.got.has(`C${way}`));
          await until('the jobs for success', () => {
            // All that is not withdrawn arrives, and what is withdrawn is known at once.
            const { withdrawn, unattributed } = app.deferrer.stats();
            const isDecided = withdrawn + unattributed >= ways.length;
            return (
              missing().length === 0 || (isDecided && app.deferrer.stats().sinks[0]!.depth === 0)
            );
          });
          assert.deepEqual(missing(), []);
          for (const way of ownWays) {
            if (sink.got.has(`A${way}`)) lost.push(`${way}: the job of a failed request ran`);
          }

          isFull = true;
          for (const way of ways) {
            for (const when of ['always', 'success']) {
              const ids = ['D', 'E', 'F'].map((id) => `${id}${when}${way}`);
              const statuses = await Promise.all(ids.map((id) => ask(way, when, 200, id)));
              for (const status of statuses) {
                const claims = typeof status === 'number' && status < 400;
                if (claims) lost.push(`${way}, ${when}: ${status} on a full disk`);
              }
            }
          }
          assert.deepEqual(lost, []);
        });
      }
    });
  }
}
