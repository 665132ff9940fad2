import { Client } from 'undici';
import type { CountedLoad, CountedOutcome } from './counted.ts';
import { originOf } from './endpoint.ts';
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
  const connection = async (): Promise<void> => {
    while (sent < load.count) {
      const client = new Client(originOf(load), {
        headersTimeout: responseTimeoutMs,
        bodyTimeout: responseTimeoutMs,
      });
      for (let each = 0; each < requestsPerConnection && sent < load.count; each++) {
        const request = load.requests[(load.offset + sent++) % load.requests.length]!;
        await sendOne(
          client,
          needsFreshId(request) ? withFreshId(request, ids.next()) : request,
          outcome,
        );
      }
      await client.close();
    }
  };
  await Promise.all(Array.from({ length: load.connections }, connection));
  outcome.seconds = (performance.now() - startedAt) / 1_000;
  return outcome;
}

async function sendOne(
  client: Client,
  { method, path, headers, body }: CountedLoad['requests'][number],
  outcome: CountedOutcome,
): Promise<void> {
  try {
    const response = await client.request({
      method,
      path,
      headers,
      ...(body === '' ? {} : { body }),
    });
    if (response.statusCode >= 400) outcome.badStatus++;
    await response.body.dump();
  } catch {
    outcome.socketErrors++;
  }
}
