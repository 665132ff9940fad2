// The contenders of the scenario cached-peers, in the order of its table.
import { execFileSync } from 'node:child_process';
import { engine } from '@redline/http';
import { debianEnv, obtainFromDebian } from './obtain-debian.ts';
import { obtainContenders, programs, type Contender } from './obtain.ts';

type Need = Contender | 'addon' | keyof typeof packaged;

/** Contender → description and requirements. */
export const peers: Record<string, { note: string; needs: Need[] }> = {
  'redline-engine': {
    note: '`responseStoreOf(server)`, lines of the engine',
    needs: ['addon', 'redis-server'],
  },
  'redline-threads': {
    note: '`runThreads(2)`, one store',
    needs: ['addon', 'redis-server'],
  },
  'redline-memory': {
    note: "Fastify on the engine, `at: 'hook'`, `tieredStore`",
    needs: ['addon', 'redis-server'],
  },
  'redline-redis': {
    note: "Fastify on the engine, `at: 'hook'`, `redisStore`",
    needs: ['addon', 'redis-server'],
  },
  'fastify-ioredis': { note: 'Fastify on node:http, ioredis, pino', needs: ['redis-server'] },
  nginx: { note: 'proxy_cache, log in batches of 64 KiB', needs: ['nginx'] },
  haproxy: { note: 'cache, one thread, log to a file', needs: ['haproxy'] },
  varnish: { note: 'with varnishncsa', needs: ['varnishd', 'varnishncsa'] },
  'axum-default': { note: 'axum, redis-rs, tracing', needs: ['axum', 'redis-server'] },
  'axum-tuned': {
    note: 'the same on one thread, LTO, own lines',
    needs: ['axum-tuned', 'redis-server'],
  },
  'go-redis': { note: 'net/http, go-redis, slog', needs: ['go-cached', 'redis-server'] },
  rueidis: { note: 'net/http, rueidis with its cache, slog', needs: ['go-cached', 'redis-server'] },
  bun: { note: 'Bun.serve and its Redis client', needs: ['bun', 'redis-server'] },
};

/** Program → its Debian package. */
const packaged = {
  nginx: 'nginx',
  haproxy: 'haproxy',
  varnishd: 'varnish',
  varnishncsa: 'varnish',
  'redis-server': 'redis-server',
} as const;

/** Builds, fetches or finds all contenders. */
export async function obtainPeers(): Promise<{
  /** Requirement → file. */
  programs: Record<string, string>;
  env: Record<string, string>;
  /** Contender → reason why it cannot run here. */
  missing: Record<string, string>;
}> {
  const built = ['axum', 'axum-tuned', 'go-cached', 'bun'] as const;
  const missing: Partial<Record<Need, string>> = await obtainContenders(built);
  const found: Record<string, string> = {};
  for (const [program, from] of Object.entries(packaged)) {
    const obtained = await obtainFromDebian(program, from);
    if ('file' in obtained) found[program] = obtained.file;
    else missing[program as Need] = obtained.missing;
  }
  missing.varnishd ??= compilerFault();
  const served = engine();
  if (served.name !== 'native') missing.addon = served.reason;
  const reasons = Object.entries(peers).flatMap(([name, { needs }]) => {
    const reason = needs.map((need) => missing[need]).find(Boolean);
    return reason === undefined ? [] : [[name, reason] as const];
  });
  return {
    programs: { ...programs, ...found },
    env: debianEnv(),
    missing: Object.fromEntries(reasons),
  };
}

/** Checks for gcc, with which Varnish compiles its configuration. */
function compilerFault(): string | undefined {
  try {
    execFileSync('gcc', ['--version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'varnishd compiles its configuration with gcc, and there is none';
  }
}
