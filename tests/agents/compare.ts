import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { outcomeOf, type Outcome, type Program } from './program.ts';
import { treesOf, type Tree } from './spans.ts';

/** In which order Node loads the two, with the same flag. */
export const orders = ['the agent first', 'register first'] as const;
export type Order = (typeof orders)[number];
export type Flag = '--import' | '--require';

const registers = {
  server: fileURLToPath(import.meta.resolve('@redline/http/register')),
  children: fileURLToPath(import.meta.resolve('@redline/child-process/register')),
};

export type Compared = Pick<Program, 'app' | 'agent' | 'frameworks' | 'isComplete'>;

/** By framework: the responses, and the trees of spans whose root is of it; `''` has the others. */
export interface Seen {
  readonly responses: Outcome['responses'];
  readonly trees: readonly Tree[];
}

/** What an agent sees of the app on Node. */
export async function onNode(compared: Compared, flag: Flag): Promise<Seen> {
  const outcome = await outcomeOf({ ...compared, flags: [flag, 'AGENT'], isRedline: false });
  return seen(outcome);
}

/** The same with `register`, which has to serve. */
export async function onRedline(compared: Compared, flag: Flag, order: Order): Promise<Seen> {
  const register = [flag, registers[compared.app]];
  const agent = [flag, 'AGENT'];
  const flags = order === 'the agent first' ? [...agent, ...register] : [...register, ...agent];
  const outcome = await outcomeOf({ ...compared, flags, isRedline: true });
  for (const [name, { serving }] of Object.entries(outcome.servers)) {
    assert.equal(serving.name, 'native', `${name}: ${serving.reason}`);
  }
  return seen(outcome);
}

function seen({ servers, responses, spans }: Outcome): Seen {
  const ports = new Map(Object.entries(servers).map(([name, { port }]) => [String(port), name]));
  return { responses, trees: treesOf(spans, ports) };
}
