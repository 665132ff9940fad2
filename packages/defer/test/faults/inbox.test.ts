import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { startPostgres } from '@redline/services';
import { Pool } from 'pg';
import { until } from '@redline/services/until';
import { temporaryFolder } from '../harness.ts';
import type { InboxAppSettings } from './inbox-app.ts';
import { kill, Load, startApp, type RunningApp } from './kill-trials.ts';

// A tenth of the kills of the other trials: 4 in `npm test`, 10 in `npm run test:all`, 100 by `npm run test:faults`.
const kills = Math.ceil(Number(process.env.REDLINE_DEFER_KILLS ?? 40) / 10);
const moments = ['before', 'within', 'behind'] as const;
const appFile = join(import.meta.dirname, 'inbox-app.ts');

describe('with an inbox, of all that was acknowledged', () => {
  it(`each job has its effect once, in ${kills} kills around the commit`, async (t) => {
    const { server, missing } = await startPostgres();
    if (server === undefined) return t.skip(missing);
    const pool = new Pool({ connectionString: server.url, max: 2 });
    pool.on('error', () => {});
    let running: RunningApp | undefined;
    t.after(async () => {
      if (running !== undefined) await kill(running);
      await pool.end();
      await server.stop();
    });
    await pool.query('create table effects (id text); create table skipped (id text)');
    const settings: InboxAppSettings = { directory: temporaryFolder(t), url: server.url };
    const loads: Load[] = [];
    for (let trial = 0; trial < kills; trial++) {
      // Behind those that were running at the last end: each of them runs alone first, and would be blamed for this one.
      const crash = { commit: 65 + ((trial * 7) % 20), moment: moments[trial % 3]! };
      const app = await startApp({ ...settings, crash }, appFile);
      if (app === undefined) continue;
      const ended = new Promise((resolve) => void app.child.once('exit', resolve));
      const load = new Load(app.url, 1);
      loads.push(load);
      if (app.child.exitCode === null && app.child.signalCode === null) await ended;
      await load.stop();
    }
    const last = (await startApp(settings, appFile))!;
    running = last;
    const acknowledged = loads.flatMap((load) => [...load.acknowledged]);
    assert.ok(acknowledged.length > 0, 'no request was answered at all');
    await until('the end of the backlog', async () => {
      const { depth } = (await (await fetch(`${last.url}/depth`)).json()) as { depth: number };
      return depth === 0;
    });
    const { rows } = await pool.query('select id from effects');
    const effects: string[] = rows.map(({ id }) => id);
    const skipped = await pool.query('select count(distinct id)::int as n from skipped');
    t.diagnostic(`${acknowledged.length} acknowledged, ${effects.length} effects`);
    t.diagnostic(`${skipped.rows[0].n} of them found done at their next delivery`);
    const there = new Set(effects);
    assert.deepEqual(
      acknowledged.filter((id) => !there.has(id)),
      [],
    );
    assert.ok(skipped.rows[0].n > 0, 'no kill came between a commit and its acknowledgement');
    assert.equal(effects.length, there.size, 'some have their effect twice');
  });
});
