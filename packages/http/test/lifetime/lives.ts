import { once } from 'node:events';
import { connect } from 'node:net';
import { Worker } from 'node:worker_threads';

/** More than the kernel's buffers hold. */
export const LARGE = 32 * 1024 * 1024;

export const ENGINES = ['node', 'native', 'thread'] as const;
export const STATES = [
  'connected',
  'bytes read',
  'idle',
  'handling',
  'small upload',
  'unread',
  'request paused',
  'socket paused',
  'socket resumed',
  'writing',
  'half open',
  'upgraded',
] as const;
export const REFERENCES = ['none', 'unref', 'unref, ref'] as const;
export const CLIENTS = ['stays', 'leaves', 'resets'] as const;
export const ENDS = ['close', 'unref'] as const;
export const TIMEOUTS = ['default', 'off'] as const;

/** A case: what a server does with a connection, before nothing else would keep its thread. */
export interface Life {
  readonly engine: (typeof ENGINES)[number];
  readonly state: (typeof STATES)[number];
  readonly reference: (typeof REFERENCES)[number];
  readonly client: (typeof CLIENTS)[number];
  readonly end: (typeof ENDS)[number];
  readonly timeouts: (typeof TIMEOUTS)[number];
}

const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const post = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${LARGE}\r\n\r\n`;
const SENT: Record<Life['state'], string> = {
  connected: '',
  'bytes read': '',
  idle: get,
  handling: get,
  'small upload': `${post}some`,
  unread: post,
  'request paused': post,
  'socket paused': post,
  'socket resumed': post,
  writing: get,
  'half open': get,
  upgraded: 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: a\r\n\r\n',
};
const UPLOADS = new Set(['unread', 'request paused', 'socket paused', 'socket resumed']);

/** The case in words, without its engine. */
export function nameOf({ state, reference, client, end, timeouts }: Life): string {
  return `${state}; ${reference}; client ${client}; ${end}; timeouts ${timeouts}`;
}

/** Whether the thread of such a server ends by itself, and whether the server has emitted "close". */
export async function live(life: Life): Promise<string> {
  const thread = new Worker(new URL('life.ts', import.meta.url), { workerData: life });
  const exited = once(thread, 'exit');
  const messages: (string | number)[] = [];
  thread.on('message', (message) => messages.push(message));
  async function hear(isIt: (message: string | number) => boolean): Promise<void> {
    while (!messages.some(isIt)) await once(thread, 'message');
  }
  await hear((message) => typeof message === 'number');
  const port = messages[0] as number;
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  client.on('error', () => {});
  if (life.state === 'writing') client.pause();
  else client.resume();
  await once(client, 'connect');
  client.write(SENT[life.state]);
  if (UPLOADS.has(life.state)) client.write(Buffer.alloc(LARGE / 2));
  if (life.state === 'half open') client.end();
  await hear((message) => message === 'reached');
  if (life.client === 'leaves') client.destroy();
  if (life.client === 'resets') client.resetAndDestroy();
  if (life.client !== 'stays' && !client.closed) await once(client, 'close');
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  thread.postMessage('go');
  const outcome = await Promise.race([
    hear((message) => message === 'stays').then(() => 'stays'),
    exited.then(() => 'ends'),
  ]);
  const isClosed = messages.includes('closed');
  await thread.terminate();
  client.destroy();
  // Without a reference the thread may be over before the end of the connection is known. A reset reaches the engine even while
  // nobody reads; libuv does not look then.
  const isComparable = life.reference !== 'unref' && life.client !== 'resets';
  return isClosed && isComparable ? `${outcome}, closed` : outcome;
}

/** The outcomes by the cases' names, a few cases at a time. */
export async function liveAll(lives: readonly Life[]): Promise<Record<string, string>> {
  const outcomes: Record<string, string> = {};
  for (const life of lives) outcomes[nameOf(life)] = '';
  const left = [...lives];
  async function work(): Promise<void> {
    for (let life = left.pop(); life !== undefined; life = left.pop()) {
      outcomes[nameOf(life)] = await live(life);
    }
  }
  await Promise.all(Array.from({ length: 4 }, work));
  return outcomes;
}

type Among = Partial<{ [Key in keyof Life]: readonly Life[Key][] }>;

/** Every combination of these; of what is not named, the first alone. */
export function combine(among: Among): Life[] {
  const { engine = ['node'], state = STATES, reference = ['none'] } = among;
  const { client = ['stays'], end = ['close'], timeouts = ['default'] } = among;
  let lives: Partial<Life>[] = [{}];
  const parts = { engine, state, reference, client, end, timeouts };
  for (const [name, values] of Object.entries(parts)) {
    lives = lives.flatMap((life) => values.map((value) => ({ ...life, [name]: value })));
  }
  return lives as Life[];
}
