import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { http } from '../../src/sinks/http.ts';
import { deliveries, delivery } from '../../src/testing/deliveries.ts';
import type { Message } from '../../src/testing/sink-contract.ts';
import { runContract } from './run-contract.ts';

type Answer = (body: string, request: IncomingMessage, response: ServerResponse) => void;

describe('http', () => {
  const paths = new Map<string, Answer>();
  let server: Server;
  let port = 0;
  before(begin);
  after(end);

  runContract({
    dedupes: false,
    poison: { json: '{"n":-1}' },
    async open() {
      const messages: Message[] = [];
      const path = `/${paths.size}`;
      paths.set(path, (body, _request, response) => {
        const jobs = JSON.parse(body) as (Message & { context?: object; data: { n: number } })[];
        if (jobs.some(({ data }) => data?.n === -1)) response.statusCode = 422;
        else messages.push(...jobs.map(({ context, ...rest }) => ({ ...rest, ...context })));
        response.end();
      });
      return {
        sink: () => http({ url: `http://127.0.0.1:${port}${path}` }),
        received: async () =>
          messages.map(({ job, data, id, ...rest }) => ({ job, data, id, ...pick(rest) })),
      };
    },
    outage: { begin: end, end: begin },
  });

  it('sends lines where lines are wanted, with the headers it is given', async () => {
    let seen: [string, string | undefined, string | undefined] | undefined;
    paths.set('/lines', (body, { headers }, response) => {
      seen = [body, headers['content-type'], headers.authorization];
      response.end();
    });
    const sink = http({
      url: `http://127.0.0.1:${port}/lines`,
      format: 'ndjson',
      headers: async () => ({ authorization: 'Bearer x' }),
    });
    const batch = [
      delivery({ key: 'k', json: '{"big":12345678901234567890}' }),
      delivery({ json: 'null' }),
    ];
    await sink.send(batch, AbortSignal.timeout(60_000));
    const [body, type, authorization] = seen!;
    assert.equal(type, 'application/x-ndjson');
    assert.equal(authorization, 'Bearer x');
    const lines = body.trimEnd().split('\n');
    assert.equal(lines.length, 2);
    // To the digit: the data is never parsed.
    assert.ok(lines[0]!.includes('"data":{"big":12345678901234567890}'), lines[0]);
    assert.equal(JSON.parse(lines[0]!).key, 'k');
    assert.equal(JSON.parse(lines[1]!).data, null);
  });

  it('waits as long as a busy server asks', async () => {
    paths.set('/busy', (_body, _request, response) => {
      response.writeHead(429, { 'retry-after': '7' });
      response.end();
    });
    const sink = http({ url: `http://127.0.0.1:${port}/busy` });
    const results = await sink.send(deliveries(2), AbortSignal.timeout(60_000));
    assert.deepEqual(
      results?.map((result) => result?.kind === 'retry' && result.afterMs),
      [7_000, 7_000],
    );
  });

  for (const status of [500, 502, 401, 404, 302]) {
    it(`blames nobody for a ${status}`, async () => {
      paths.set('/down', (_body, _request, response) => {
        response.writeHead(status, { location: '/' });
        response.end('why');
      });
      const sink = http({ url: `http://127.0.0.1:${port}/down` });
      await assert.rejects(
        Promise.resolve(sink.send(deliveries(2), AbortSignal.timeout(60_000))),
        new RegExp(`responded with ${status} why`),
      );
    });
  }

  it('takes no address that is none, and no format it does not know', () => {
    const code = 'ERR_REDLINE_DEFER_OPTION';
    assert.throws(() => http({ url: 'nowhere' }), { code });
    assert.throws(() => http({ url: 'http://a', format: 'xml' as never }), { code });
  });

  async function begin(): Promise<void> {
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        paths.get(request.url!)!(Buffer.concat(chunks).toString(), request, response);
      });
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
  }

  async function end(): Promise<void> {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  }
});

function pick({ traceparent }: { traceparent?: string | undefined }): { traceparent?: string } {
  return traceparent === undefined ? {} : { traceparent };
}
