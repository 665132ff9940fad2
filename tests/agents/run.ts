// `npm run test:agents [-- AGENT…]`: what production agents see of servers and child processes on Node's own modules and on the
// engines, each loaded before and after `register`, with `--import` and `--require`. docs/design/http.md
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { installAgents } from './install.ts';
import { onNode, onRedline, orders, type Compared, type Flag, type Seen } from './compare.ts';
import { requestCount } from './requests.ts';

type Fields = Record<string, unknown>;

const frameworks = [
  'node:http',
  'Express 4',
  'Express 5',
  'Fastify',
  'Koa',
  'Nest on Express',
  'Nest on Fastify',
  'Hono',
];

interface Agent {
  /** Sentry refuses `--require`: Node runs these files again on the thread of module hooks. */
  readonly flags: readonly Flag[];
  /** Requests of a server that it reports, if not all: Elastic ends no transaction whose client leaves. */
  readonly requests?: number;
  /** Whether a span that it sent is that of a request to a server. Absent where spans stay in the process. */
  isRequest?(span: Fields): boolean;
}

const both: readonly Flag[] = ['--import', '--require'];
const agents: Record<string, Agent> = {
  'appdynamics-like': { flags: both },
  'dynatrace-like': { flags: both },
  'dd-trace': { flags: both, isRequest: ({ type }) => type === 'web' },
  'elastic-apm-node': {
    flags: both,
    requests: requestCount - 1,
    isRequest: ({ transaction }) => transaction !== undefined,
  },
  newrelic: { flags: both },
  opentelemetry: { flags: both },
  sentry: { flags: ['--import'] },
};

const missing = installAgents();
if (missing === undefined) await compareAll();
else {
  console.error(`agents: nothing was compared, as they could not be installed: ${missing}`);
  process.exitCode = 1;
}

async function compareAll(): Promise<void> {
  const chosen = process.argv.slice(2);
  const names = Object.keys(agents).filter((name) => chosen.length === 0 || chosen.includes(name));
  for (const name of names) {
    const { isRequest, flags, requests: each = requestCount } = agents[name]!;
    for (const app of ['server', 'children'] as const) {
      const requests = app === 'server' ? frameworks.length * each : 1;
      const compared: Compared = {
        app,
        agent: name,
        frameworks,
        isComplete: (spans) => !isRequest || spans.filter(isRequest).length >= requests,
      };
      for (const flag of flags) await compareOrders(compared, flag);
    }
  }
}

async function compareOrders(compared: Compared, flag: Flag): Promise<void> {
  const { agent, app } = compared;
  const title = `${agent}, ${app === 'server' ? 'servers' : 'child processes'}, ${flag}`;
  const expected = await onNode(compared, flag);
  const { length } = expected.trees;
  if (length === 0) fails(title, 'it sees nothing on Node');
  for (const order of orders) {
    try {
      const actual = await onRedline(compared, flag, order);
      if (isDeepStrictEqual(actual, expected))
        console.log(`${title}, ${order}: the same ${length} traces`);
      else fails(`${title}, ${order}`, differences(`${agent}-${app}${flag}`, actual, expected));
    } catch (error) {
      fails(`${title}, ${order}`, (error as Error).message);
    }
  }
}

function fails(title: string, why: string): void {
  console.log(`${title}: ${why}`);
  process.exitCode = 1;
}

/** Both in files for `diff`, and what is on one side only. */
function differences(name: string, actual: Seen, expected: Seen): string {
  const folder = join(import.meta.dirname, '../../redline-out/agents');
  mkdirSync(folder, { recursive: true });
  for (const [side, seen] of Object.entries({ redline: actual, node: expected })) {
    writeFileSync(join(folder, `${name}.${side}.json`), JSON.stringify(seen, undefined, 2));
  }
  return `differs, see redline-out/agents/${name}.node.json and .redline.json`;
}
