import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { Collector } from './collector.ts';
import { clients, onlyOne, requestAll } from './requests.ts';

export interface Served {
  readonly port: number;
  readonly serving: { readonly name: string; readonly reason?: string };
}
export interface Outcome {
  readonly servers: Record<string, Served>;
  readonly responses: Record<string, string[]>;
  readonly spans: Record<string, unknown>[];
  readonly stderr: string;
}
export interface Program {
  readonly app: 'server' | 'children';
  readonly agent: string;
  readonly frameworks: readonly string[];
  /** Flags for Node, in their order. `AGENT` is the file of the agent. */
  readonly flags: readonly string[];
  readonly isRedline: boolean;
  /** Whether what was sent is all there is to come. */
  isComplete(spans: readonly Record<string, unknown>[]): boolean;
}

/** How long an agent that sends has for what is missing. It is waited for on a failure only. */
const PATIENCE_MS = 20_000;

/** Starts the app below an agent, asks each server for everything, and collects the spans. */
export async function outcomeOf(program: Program): Promise<Outcome> {
  await using collector = await Collector.listen();
  const agentFile = join(import.meta.dirname, 'with', `${program.agent}.cjs`);
  const flags = program.flags.map((flag) => (flag === 'AGENT' ? agentFile : flag));
  const app = join(import.meta.dirname, 'app', `${program.app}.cjs`);
  const args = ['--no-warnings', ...flags, app, program.frameworks.join(',')];
  const { NODE_OPTIONS: _, NODE_ENV: __, ...inherited } = process.env;
  const env = {
    ...inherited,
    COLLECTOR_PORT: String(collector.port),
    ON_REDLINE: program.isRedline ? 'yes' : 'no',
  };
  const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.on('data', (bytes) => (stderr += String(bytes)));
  const exited = once(child, 'close');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<unknown> => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`The app under ${program.agent} ended early: ${stderr}`);
    return JSON.parse(value);
  };
  try {
    const servers = (await next()) as Record<string, Served>;
    const responses: Record<string, string[]> = {};
    for (const [name, { port }] of Object.entries(servers)) {
      responses[name] = await requestAll(port, program.app === 'children' ? onlyOne : clients);
    }
    child.stdin.write('served\n');
    const kept = (await next()) as Outcome['spans'];
    const isMissing = (): boolean => !program.isComplete(collector.spans);
    for (let waited = 0; isMissing() && waited < PATIENCE_MS; waited += 50) await sleep(50);
    return { servers, responses, spans: [...collector.spans, ...kept], stderr };
  } finally {
    child.stdin.end();
    await exited;
  }
}

export const register: string = fileURLToPath(import.meta.resolve('@redline/http/register'));
