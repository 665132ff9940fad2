import { type BenchResult, isMeasured, type MeasuredVariant } from '@redline/lab';
import { table } from './markdown-table.ts';
import { ofRun, ratioText, shareOf } from './ratio-text.ts';

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

const files = ['cached-peers', 'cached-peers-runtimes'].map(
  (name) => `[${name}.json](../../benchmarks/results/${name}.json)`,
);

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
    `**A hit of the engine**, ${microsOf(result, 'redline-engine/proxies')} of CPU with the headers of browsers, beside what others take for the same response and its log line:`,
    engineTable(result),
    ...javascriptTexts(result),
    ...threadsTexts(result),
    describeRun(result, parts.length),
  ].join('\n\n');
}

function engineTable(result: BenchResult): string {
  const others = Object.keys(names).filter((name) =>
    ['proxies', 'runtimes', 'minimal'].some((group) => find(result, `${name}/${group}`)),
  );
  const rows = others.map((name) => {
    const varied = find(result, `${name}/proxies`) ?? find(result, `${name}/runtimes`);
    // The ratio is the base's CPU divided by the variant's, and the engine is the base.
    return [
      names[name]!,
      micros(varied),
      ratioText(varied?.cpuRatio),
      aimText(aims[name], varied?.cpuRatio.value),
      ratioText(find(result, `${name}/minimal`)?.cpuRatio),
    ];
  });
  const head = ['', 'CPU', 'the engine takes of it', 'aim', 'with `Host` alone'];
  return table(head, rows);
}

function javascriptTexts(result: BenchResult): string[] {
  const axum = find(result, 'axum-default/javascript');
  if (axum === undefined) return [];
  const rows = Object.entries(names).flatMap(([name, title]) => {
    const variant = find(result, `${name}/javascript`);
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
  const two = find(result, 'redline-threads/threads');
  if (two === undefined) return [];
  return [
    `**Two threads with one store** (\`runThreads(2)\`, on the cores of the load) take ${ratioText(shareOf(two.cpuRatio))} of the CPU of one for a hit, and answer ${ratioText(two.rpsRatio)} as many.`,
  ];
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

function describeRun({ machine, load, startedAt, groups = [] }: BenchResult, runs: number): string {
  const { restarts, blocks } = groups[0]!.precision;
  const bands = groups.map(({ precision }) => precision.cpuBand);
  const unsteady = groups.flatMap(({ name, control }) => {
    if (!isMeasured(control)) return [];
    const { low, high } = control.cpuRatio;
    if (low <= 1 && high >= 1) return [];
    return [
      `In the group ${name} the base takes ${ratioText(shareOf(control.cpuRatio))} of its own CPU: differences of that size do not count.`,
    ];
  });
  return [
    `A thousand products of 600 bytes, asked for by the law of Zipf over ${load.connections} connections; each response has a line in a log that is a`,
    'file, with an id that is new in each request. CPU is that of all processes of a contender, its own Redis included; less is better.',
    `Measured ${startedAt.slice(0, 10)} on ${machine.cores} cores (${machine.cpuModel}, ${machine.virtualisation}), ${machine.kernel}, Node ${machine.node.slice(1)}; ${load.generator},`,
    `${machine.pinning}; ${ofRun(restarts, blocks)}, A/A noise ± ${(Math.max(...bands) * 100).toFixed(0)} % in the worst group.`,
    ...unsteady,
    `\`npm run bench -- cached-peers\`; raw data: ${files.slice(0, runs).join(' and ')}.`,
  ].join('\n');
}
