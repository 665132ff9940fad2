// The requests of HttpArena, as sent by its load generator, on one thread of each contender. Variants are named
// CONTENDER/PROFILE. Node, Fastify and Nest are the entries of benchmarks/arena on node:http.
import { join } from 'node:path';
import { defineConfig, type RedlineConfig, type RequestConfig } from '@redline/lab';
import { engine } from '@redline/http';
import { writeDataset } from '../arena/dataset.ts';
import { entriesNamed, programsOf } from '../arena/entries.ts';
import { obtainContenders, programs, type Contender } from '../contenders/obtain.ts';

type Group = NonNullable<RedlineConfig['groups']>[string];

interface Entrant {
  name: string;
  note: string;
  command: string[];
  env?: Record<string, string>;
  needs?: Contender | 'addon';
}

const root = join(import.meta.dirname, '../..');

function onBoth(entry: string, name: string, title: string): Entrant[] {
  const [found] = entriesNamed([entry]);
  const command = ['node', join(programsOf(found!), 'server.js')];
  return [
    { name, note: `${title} on node:http`, command, env: { REDLINE_HTTP: 'node' } },
    { name: entry, note: `${title} on @redline/http`, command, needs: 'addon' },
  ];
}

const plain = onBoth('redline', 'node', 'no framework');
const frameworks = [
  ...onBoth('fastify-redline', 'fastify', 'Fastify 5'),
  ...onBoth('nest-redline', 'nest', 'Nest 12 on Fastify'),
];
const others: Entrant[] = [
  {
    name: 'bun',
    note: 'Bun.serve',
    command: [programs.bun, join(root, 'benchmarks/contenders/arena-bun.js')],
    needs: 'bun',
  },
  { name: 'hyper', note: 'hyper, one thread of tokio', command: [programs.hyper], needs: 'hyper' },
];

const get = '/baseline11?a=13&b=42';
const post: RequestConfig = { method: 'POST', path: get, body: '20' };
const compressed = ([count, m]: [count: number, m: number]): RequestConfig => ({
  path: `/json/${count}?m=${m}`,
  headers: { 'Accept-Encoding': 'gzip, br' },
});

const profiles: Record<string, Group> = {
  baseline: {
    title: 'GET and POST of a sum, in turn, 64 connections',
    requests: [get, post],
  },
  pipelined: {
    title: '16 requests at a time on each connection',
    requests: ['/pipeline'],
    load: { pipeline: 16 },
  },
  'limited-conn': {
    title: 'GET and POST of a sum, ten requests a connection',
    requests: [
      ...Array.from({ length: 9 }, (_, i) => (i % 2 === 0 ? get : post)),
      { path: get, headers: { Connection: 'close' } },
    ],
  },
  async: {
    title: 'GET that waits for 15 ms, 512 connections',
    requests: ['/delay/15'],
    load: { connections: 512 },
  },
  'json-comp': {
    title: '25 to 50 items as JSON, compressed',
    requests: (
      [
        [25, 4],
        [40, 8],
        [50, 6],
      ] as [number, number][]
    ).map(compressed),
    load: { openLoopRps: 200 },
  },
};

const quickProfiles = new Set(['baseline', 'json-comp']);
const entrants = Object.keys(profiles).flatMap((profile) =>
  entrantsIn(profile).map((entrant) => ({ entrant, profile })),
);

/** Compression is compared only among frameworks that do it in the server. */
function entrantsIn(profile: string): Entrant[] {
  return profile === 'json-comp' ? frameworks : [...plain, ...frameworks, ...others];
}

export default defineConfig({
  name: 'arena',
  title: 'The requests of HttpArena',
  load: { connections: 64, openLoopRps: 2_000, turns: false },
  precision: { restarts: 3, blocks: 4, sliceMs: 250, warmupMs: 1_500, latencyMs: 400 },
  quick: { restarts: 4, blocks: 3, sliceMs: 200, warmupMs: 800, latencyMs: 200 },
  requests: [get],
  groups: profiles,
  variants: entrants.map(({ entrant: { name, note, command, env = {} }, profile }) => ({
    name: `${name}/${profile}`,
    note,
    group: profile,
    command,
    env,
    ...(quickProfiles.has(profile) ? {} : { quick: false as const }),
  })),

  async setup() {
    const missing: Record<string, string> = await obtainContenders(['bun', 'hyper']);
    const served = engine();
    if (served.name !== 'native') missing['addon'] = served.reason;
    const skip = entrants.flatMap(({ entrant, profile }) => {
      const reason = entrant.needs === undefined ? undefined : missing[entrant.needs];
      return reason === undefined ? [] : [[`${entrant.name}/${profile}`, reason] as const];
    });
    const DATASET = writeDataset(join(root, 'redline-out', 'arena'));
    return { env: { DATASET }, skip: Object.fromEntries(skip) };
  },
});
