import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { test } from 'node:test';
import { SpanProcessors } from '../../src/api/span-processors.ts';
import { Routes } from '../../src/routes/routes.ts';
import { RouteTable } from '../../src/routes/route-table.ts';
import { Requests } from '../../src/servers/requests.ts';

test('a request that only looks like one of a framework ends without a route', () => {
  const table = new RouteTable();
  const routes = new Routes(table);
  const requests = new Requests(routes, table);
  const request = { baseUrl: '', route: '/items/:item' } as unknown as IncomingMessage;
  assert.equal(requests.end(request, { statusCode: 200 } as ServerResponse), 0);
  routes.stop();
});

test('a span processor that throws keeps neither the others nor the program from going on', async () => {
  const calls: string[] = [];
  const processor = (act: (call: string) => void) => ({
    onStart: () => act('start'),
    onEnding: () => act('ending'),
    onEnd: () => act('end'),
    forceFlush: async () => {},
    shutdown: async () => {},
  });
  const broken = processor(() => {
    throw new Error('broken');
  });
  const processors = new SpanProcessors([broken, processor((call) => calls.push(call))]);
  processors.onStart({} as never, {} as never);
  processors.onEnding({} as never);
  processors.onEnd({} as never);
  assert.deepEqual(calls, ['start', 'ending', 'end']);
});
