import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '@redline/services/until';
import { temporaryFolder } from '../harness.ts';
import type { AppSettings } from './app.ts';
import { kill, KeyServer, Load, startApp, type RunningApp } from './kill-trials.ts';
import { platforms } from './platforms.ts';

for (const platform of platforms) {
  test(`delayed jobs outlive kills of the app, and none comes before its time, on ${platform}`, async (t) => {
    const server = new KeyServer(new Map<string, number>());
    const url = await server.listen();
    const settings: AppSettings = {
      directory: temporaryFolder(t),
      level: 'process',
      sink: { url },
      segmentBytes: 16 << 10,
      delayMs: 2_500,
      // Most of what is due at once has no room in memory.
      maxPending: 200,
      platform,
    };
    let app: RunningApp | undefined;
    t.after(async () => {
      if (app !== undefined) await kill(app);
      server.close();
    });
    const loads: Load[] = [];
    for (let trial = 0; trial < 4; trial++) {
      app = (await startApp(settings))!;
      const load = new Load(app.url, 8);
      loads.push(load);
      await until('an answer', () => load.acknowledged.size > 0);
      await sleep(50 + trial * 30);
      await kill(app);
      await load.stop();
    }
    app = (await startApp(settings))!;
    const all = loads.flatMap(({ acknowledged }) => [...acknowledged]);
    const missing = (): string[] => all.filter((id) => !server.received.has(id));
    await until('the acknowledged jobs', () => missing().length === 0).catch(() => {});
    t.diagnostic(`${all.length} acknowledged, ${missing().length} lost`);
    assert.deepEqual(missing(), []);
    assert.ok(!server.received.has('early'));
  });
}
