import { startRedis } from './redis-server.ts';

export type ObtainedRedis =
  | { url: string; origin: 'REDIS_URL' | 'own server'; stop(): Promise<void> }
  | { url: undefined; missing: string; stop(): Promise<void> };

/** Returns the Redis named in REDIS_URL, otherwise a private one, otherwise instructions to get one. */
export async function obtainRedis(): Promise<ObtainedRedis> {
  const named = process.env.REDIS_URL;
  if (named) return { url: named, origin: 'REDIS_URL', stop: async () => {} };
  const server = await startRedis();
  if (server) return { url: server.url, origin: 'own server', stop: server.stop };
  return { url: undefined, missing: howToGetRedis(), stop: async () => {} };
}

function howToGetRedis(): string {
  const command = {
    darwin: 'brew install redis',
    linux: 'sudo apt-get install redis-server',
  }[process.platform as string];
  return command === undefined
    ? 'No Redis found: set REDIS_URL to one that runs.'
    : `No Redis found: run "${command}", or set REDIS_URL to one that runs.`;
}
