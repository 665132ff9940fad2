import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { startPostgres } from '@redline/services';
import { assertEndsEverywhere, walk, withoutPlaces } from './walk.ts';

const { server, missing } = await startPostgres();
after(() => server?.stop());

describe(
  'callbacks of pg are called from its socket, and belong to the request that gave them',
  {
    skip: missing ?? false,
  },
  () => {
    const env = { POSTGRES_URL: server?.url ?? '' };

    test('pool.query', async () => {
      const walked = await walk('pg-callbacks.cjs', '/pooled', env, { times: 8 });
      assertEndsEverywhere(walked);
      assert.deepEqual(withoutPlaces(walked.names).slice(-5), [
        'getPooled',
        'onUser',
        'onOrders',
        'present',
        'write answer',
      ]);
    });

    test('pool.connect and client.query', async () => {
      // Once each: a request that ends before it gives its client back keeps it.
      const walked = await walk('pg-callbacks.cjs', '/client', env);
      assertEndsEverywhere(walked);
      assert.deepEqual(withoutPlaces(walked.names).slice(-6), [
        'getClient',
        'onClient',
        'onRows',
        'respond',
        'present',
        'write answer',
      ]);
    });
  },
);
