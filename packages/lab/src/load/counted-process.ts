import { once } from 'node:events';
import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { finished } from 'node:stream/promises';
import type { CountedLoad, CountedOutcome } from './counted.ts';
import { FreshIds, needsFreshId, withFreshId } from './fresh-ids.ts';

/** Limited, because a leak per connection would not show with persistent connections. */
const requestsPerConnection = 20;
const responseTimeoutMs = 30_000;

/** Runs in a process of its own, because the runner reads the inspector. */
process.on('message', (load: CountedLoad) => {
  void sendAll(load).then((outcome) => process.send!(outcome));
});

async function sendAll(load: CountedLoad): Promise<CountedOutcome> {
  const outcome: CountedOutcome = { seconds: 0, badStatus: 0, socketErrors: 0 };
  const ids = new FreshIds();
  const startedAt = performance.now();
  let sent = 0;
  const keepSending = async (): Promise<void> => {
    while (sent < load.count) {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      for (let each = 0; each < requestsPerConnection && sent < load.count; each++) {
        const request = load.requests[(load.offset + sent++) % load.requests.length]!;
        const filled = needsFreshId(request) ? withFreshId(request, ids.next()) : request;
        try {
          const status = await statusOf(load, filled, agent);
          if (status >= 400) outcome.badStatus++;
        } catch {
          outcome.socketErrors++;
        }
      }
      agent.destroy();
    }
  };
  await Promise.all(Array.from({ length: load.connections }, keepSending));
  outcome.seconds = (performance.now() - startedAt) / 1_000;
  return outcome;
}

/** Sends a request and returns the status of its complete response. */
async function statusOf(
  { host, port }: CountedLoad,
  { method, path, headers, body }: CountedLoad['requests'][number],
  agent: Agent,
): Promise<number> {
  const outgoing = httpRequest({
    host,
    port,
    agent,
    method,
    path,
    // node:http sets none for a DELETE or GET.
    headers: body === '' ? headers : { 'content-length': Buffer.byteLength(body), ...headers },
    timeout: responseTimeoutMs,
  });
  outgoing.on('timeout', () => outgoing.destroy(new Error('no response in time')));
  // An error after the start of the response is one of the response, too.
  outgoing.on('error', () => {});
  outgoing.end(body === '' ? undefined : body);
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  await finished(response.resume());
  return response.statusCode!;
}
