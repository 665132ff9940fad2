import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startPostgres } from '@redline/services';
import { callerText } from '../../dist/calls-out/report/call-words.js';
import { callsOf } from '../../dist/stairs/summarise-stairs.js';
import { findCommonPath } from '../../dist/stairs/common-path.js';
import { startCut, traceRequest } from '../../dist/stairs/trace-request.js';
import { watchWaiting } from '../../dist/stairs/waiting.js';
import { pinSelf } from '../../dist/system/pinning.js';
import { targetOf } from './walk.ts';

const { server, missing } = await startPostgres();
after(() => server?.stop());

test(
  'the calls of a request belong to the stage that makes them',
  { skip: missing ?? false },
  async () => {
    const target = targetOf('../calls-out/apps/orders.cjs', '/user', { POSTGRES_URL: server!.url });
    const context = { env: {}, pinning: pinSelf(false), signal: AbortSignal.timeout(100_000) };
    const { stages, ...path } = findCommonPath(await traceRequest(target, context));
    const cuts = [...stages.keys()];
    await using session = await startCut(target, { stages, ...path }, cuts, context);
    const { marks, requests } = await watchWaiting(session, { target } as never);
    assert.equal(marks.length, requests.length);
    const figures = stages.map(({ name, place }, cut) => ({ name, place, cut }));
    const calls = callsOf({ requests }, [{ cut: -1 }, ...figures] as never, target.variant.cwd);
    assert.deepEqual(
      calls!.callers.map(({ name, groups }) => [name, ...groups.map(({ text }) => text)]),
      [
        ['getUser', 'SELECT id, name FROM users WHERE id = $1'],
        ['attachOrders', 'SELECT total FROM orders WHERE user_id = $1'],
      ],
    );
    assert.match(
      callerText(calls!.callers[1]!),
      /^10 queries, one after another, .*; the same statement with another user_id$/,
    );
    assert.match(calls!.callers[1]!.groups[0]!.places[0]!.place, /^orders\.cjs:\d+$/);
  },
);
