import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { until } from '@redline/services/until';
import { temporaryFolder } from '../harness.ts';
import { kill, KeyServer, Load, startApp } from './kill-trials.ts';

test('of two processes on one directory, each does its own jobs, and the one that lives does those of the other', async (t) => {
  const directory = temporaryFolder(t);
  const server = new KeyServer(new Map<string, number>());
  const url = await server.listen();
  t.after(() => server.close());
  server.isUp = false;
  const settings = { directory, level: 'disk' as const, sink: { url }, segmentBytes: 16 << 10 };
  const apps = [(await startApp(settings))!, (await startApp(settings))!];
  const loads = apps.map((app) => new Load(app.url, 8));
  await until('some jobs of both', () =>
    loads.every(({ acknowledged }) => acknowledged.size > 100),
  );
  await kill(apps[0]!);
  await Promise.all(loads.map((load) => load.stop()));
  server.isUp = true;
  const all = loads.flatMap(({ acknowledged }) => [...acknowledged]);
  await until('every job', () => all.every((id) => server.received.has(id)));
  const twice = [...server.received.values()].filter((times) => times > 1).length;
  assert.equal(twice, 0, 'nobody else touched what the living one has');
  await until('the end of the orphan', () => {
    return readdirSync(directory).filter((name) => name.includes('~')).length === 1;
  });
  await kill(apps[1]!);
});
