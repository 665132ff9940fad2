import { type BenchResult, isMeasured, type MeasuredVariant } from '@redline/lab';
import { table } from './markdown-table.ts';
import { ofRun, ratioText, shareOf } from './ratio-text.ts';

/** What a hit of the engine may take of another's CPU at most, with the headers of browsers: what was aimed at. */
const aims: Record<string, number> = {
  nginx: 0.5,
  haproxy: 0.55,
  varnish: 0.22,
  'axum-default': 0.28,
};
/** What a hit in JavaScript may take of that of axum. */
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
  'redline-memory': 'Fastify on the engine, `tieredStore`',
  'redline-redis': 'Fastify on the engine, `redisStore`',
  'fastify-ioredis': 'Fastify on `node:http`, ioredis',
};

/**
 * Cached responses beside what others have for that: of packages/response-cache/README.md.
 * @param parts One run, or several of some groups each.
 */
export function cachedPeersTables(parts: readonly BenchResult[]): string {
  const result = {
    ...parts[0]!,
    variants: parts.flatMap(({ variants }) => variants),
    groups: parts.flatMap(({ groups = [] }) => groups),
  };
  return [
    `**A hit of the engine**, ${microsOf(result, 'redline-engine/proxies')} of CPU with the headers of browsers, beside what others take for the same response and its log line:`,
    engineTable(result),
    `**A hit in JavaScript**, beside axum in front of Redis (${microsOf(result, 'axum-default/javascript')}):`,
    javascriptTable(result),
    threadsText(result),
    describeRun(result),
  ]
    .filter(Boolean)
    .join('\n\n');
}

function engineTable(result: BenchResult): string {
  const others = Object.keys(names).filter((name) =>
    ['proxies', 'runtimes'].some((group) => find(result, `${name}/${group}`)),
  );
  const rows = others.map((name) => {
    const varied = find(result, `${name}/proxies`) ?? find(result, `${name}/runtimes`);
    // The ratio is the base's CPU by the variant's, and the engine is the base.
    return [
      names[name]!,
      micros(varied),
      ratioText(varied?.cpuRatio),
      aimText(aims[name], varied?.cpuRatio.value),
      ratioText(find(result, `${name}/minimal`)?.cpuRatio),
    ];
  });
  const head = ['', 'CPU', 'the engine takes of it', 'aim', 'without headers'];
  return table(head, rows);
}

function javascriptTable(result: BenchResult): string {
  const rows = Object.keys(names).flatMap((name) => {
    const variant = find(result, `${name}/javascript`);
    if (variant === undefined || variant.cpuVerdict === 'base') return [];
    const share = shareOf(variant.cpuRatio);
    return [
      [
        names[name]!,
        micros(variant),
        ratioText(share),
        aimText(aimsInJavaScript[name], share?.value),
      ],
    ];
  });
  return table(['', 'CPU', 'of that of axum', 'aim'], rows);
}

function threadsText(result: BenchResult): string {
  const two = find(result, 'redline-threads/threads');
  if (two === undefined) return '';
  return `**Two threads with one store** (\`runThreads(2)\`, on the cores of the load) take ${ratioText(shareOf(two.cpuRatio))} of the CPU of one for a hit, and answer ${ratioText(two.rpsRatio)} as many.`;
}

function aimText(aim: number | undefined, value: number | undefined): string {
  if (aim === undefined || value === undefined) return '';
  return `${aim.toFixed(2)}, ${value <= aim ? 'met' : 'missed'}`;
}

function find(result: BenchResult, name: string): MeasuredVariant | undefined {
  const variant = result.variants.find((each) => each.name === name);
  return variant && isMeasured(variant) ? variant : undefined;
}

function microsOf(result: BenchResult, name: string): string {
  return micros(find(result, name));
}

function micros(variant: MeasuredVariant | undefined): string {
  return variant === undefined ? '–' : `${variant.cpuMicrosPerRequest.toFixed(1)} µs`;
}

function describeRun({ machine, load, startedAt, groups = [] }: BenchResult): string {
  const { restarts, blocks } = groups[0]!.precision;
  const bands = groups.map(({ precision }) => precision.cpuBand);
  return [
    `A thousand products of 600 bytes, asked for by the law of Zipf over ${load.connections} connections; each response has a line in a log that is a`,
    'file, with an id that is new in each request. CPU is that of all processes of a contender, its own Redis included; less is better.',
    `Measured ${startedAt.slice(0, 10)} on ${machine.cores} cores (${machine.cpuModel}, ${machine.virtualisation}), ${machine.kernel}, Node ${machine.node.slice(1)}; ${load.generator},`,
    `${machine.pinning}; ${ofRun(restarts, blocks)}, A/A noise ± ${(Math.max(...bands) * 100).toFixed(0)} % in the worst group.`,
    '`npm run bench -- cached-peers`; raw data: [cached-peers.json](../../benchmarks/results/cached-peers.json),',
    '[cached-peers-runtimes.json](../../benchmarks/results/cached-peers-runtimes.json).',
  ].join('\n');
}
