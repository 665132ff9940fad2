import { type BenchResult, isMeasured } from '@redline/lab';
import {
  measured,
  measuredOn,
  micros,
  noise,
  ratioText,
  rawData,
  shareOf,
  table,
} from './format.ts';

/** Aims: max share that an engine hit takes of another server's CPU, with the headers of browsers. */
const aims: Record<string, number> = {
  nginx: 0.5,
  haproxy: 0.55,
  varnish: 0.22,
  'axum-default': 0.28,
};
/** Aims: max share that a hit in JavaScript takes of axum's CPU. */
const aimsInJavaScript: Record<string, number> = {
  'redline-memory': 0.75,
  'redline-redis': 0.95,
};
const names: Record<string, string> = {
  nginx: 'nginx, `proxy_cache`',
  haproxy: 'HAProxy, `cache`',
  varnish: 'Varnish with varnishncsa',
  'axum-default': 'axum, redis-rs, tracing',
  'axum-tuned': 'the same on one thread, with LTO and lines of its own',
  'go-redis': 'Go, go-redis, slog',
  rueidis: 'Go, rueidis with its cache in the process, slog',
  bun: 'Bun with its Redis client',
  'redline-memory': "Fastify on the engine, `at: 'hook'`, `tieredStore`",
  'redline-redis': "Fastify on the engine, `at: 'hook'`, `redisStore` with `readConnection`",
  'fastify-ioredis': 'Fastify on `node:http`, ioredis',
};

const files = ['cached-peers', 'cached-peers-runtimes'];

/**
 * Cached responses compared with those of other servers: for packages/response-cache/README.md.
 * @param parts One run, or several with some groups each.
 */
export function cachedPeersTables(parts: readonly BenchResult[]): string {
  const result = {
    ...parts[0]!,
    variants: parts.flatMap(({ variants }) => variants),
    groups: parts.flatMap(({ groups = [] }) => groups),
  };
  return [
    `**A hit of the engine**, ${micros(measured(result, 'redline-engine/proxies'))} of CPU with the headers of browsers, beside what others take for the same response and its log line:`,
    engineTable(result),
    ...javascriptTexts(result),
    ...threadsTexts(result),
    describeRun(result, parts.length),
  ].join('\n\n');
}

function engineTable(result: BenchResult): string {
  const others = Object.keys(names).filter((name) =>
    ['proxies', 'runtimes', 'minimal'].some((group) => measured(result, `${name}/${group}`)),
  );
  const rows = others.map((name) => {
    const varied = measured(result, `${name}/proxies`) ?? measured(result, `${name}/runtimes`);
    // The ratio is the base's CPU divided by the variant's, and the engine is the base.
    return [
      names[name]!,
      micros(varied),
      ratioText(varied?.cpuRatio),
      aimText(aims[name], varied?.cpuRatio.value),
      ratioText(measured(result, `${name}/minimal`)?.cpuRatio),
    ];
  });
  const head = ['', 'CPU', 'the engine takes of it', 'aim', 'with `Host` alone'];
  return table(head, rows);
}

function javascriptTexts(result: BenchResult): string[] {
  const axum = measured(result, 'axum-default/javascript');
  if (axum === undefined) return [];
  const rows = Object.entries(names).flatMap(([name, title]) => {
    const variant = measured(result, `${name}/javascript`);
    if (variant === undefined || variant.cpuVerdict === 'base') return [];
    const share = shareOf(variant.cpuRatio);
    return [
      [title, micros(variant), ratioText(share), aimText(aimsInJavaScript[name], share?.value)],
    ];
  });
  return [
    `**A hit in JavaScript**, beside axum in front of Redis (${micros(axum)}):`,
    table(['', 'CPU', 'of that of axum', 'aim'], rows),
  ];
}

function threadsTexts(result: BenchResult): string[] {
  const two = measured(result, 'redline-threads/threads');
  if (two === undefined) return [];
  return [
    `**Two threads with one store** (\`runThreads(2)\`, on the cores of the load) take ${ratioText(shareOf(two.cpuRatio))} of the CPU of one for a hit, and answer ${ratioText(two.rpsRatio)} as many.`,
  ];
}

function aimText(aim: number | undefined, value: number | undefined): string {
  if (aim === undefined || value === undefined) return '';
  return `${aim.toFixed(2)}, ${value <= aim ? 'met' : 'missed'}`;
}

function describeRun(result: BenchResult, runs: number): string {
  const unsteady = result.groups!.flatMap(({ name, control }) => {
    if (!isMeasured(control)) return [];
    const { low, high } = control.cpuRatio;
    if (low <= 1 && high >= 1) return [];
    return [
      `In the group ${name} the base takes ${ratioText(shareOf(control.cpuRatio))} of its own CPU: differences of that size do not count.`,
    ];
  });
  return [
    `A thousand products of 600 bytes, asked for by the law of Zipf over ${result.load.connections} connections; each response has a line in a log that is a`,
    'file, with an id that is new in each request. CPU is that of all processes of a contender, its own Redis included; less is better.',
    ...unsteady,
    `\`npm run bench -- cached-peers\`. ${measuredOn(result)}; ${noise(result)}. ${rawData(...files.slice(0, runs))}`,
  ].join('\n');
}
