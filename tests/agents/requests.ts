import { connect } from 'node:net';

const head = (start: string, more: readonly string[] = []): string =>
  [`${start} HTTP/1.1`, 'Host: 127.0.0.1:PORT', 'User-Agent: agents', ...more, '', ''].join('\r\n');
const last = ['Connection: close'];
const json = '{"user":"a"}';

interface Client {
  readonly sends: readonly string[];
  readonly leaves?: true;
}

/** What each client sends, on a connection of its own: a request after the response to the last. */
export const clients: readonly Client[] = [
  { sends: [head('GET /quick', last)] },
  { sends: [head('GET /quick'), head('GET /users/42?x=1', last)] },
  { sends: [head('HEAD /quick', last)] },
  { sends: [head('GET /pieces', last)] },
  {
    sends: [
      head('POST /echo', [
        'Content-Type: application/json',
        `Content-Length: ${json.length}`,
        ...last,
      ]) + json,
    ],
  },
  { sends: [head('GET /missing', last)] },
  { sends: [head('GET /fails', last)] },
  { sends: [head('GET /call', last)] },
  // A pipeline: the second and third wait for their turn.
  { sends: [head('GET /users/1') + head('GET /quick') + head('GET /users/2', last)] },
  { sends: [head('GET /leave')], leaves: true },
];

export const onlyOne: readonly Client[] = clients.slice(0, 1);

/** How many requests a server gets from them, its own included. */
export const requestCount: number = 14;

/** The responses of a server to all clients, one client after the other. */
export async function requestAll(port: number, all: readonly Client[]): Promise<string[]> {
  const responses: string[] = [];
  for (const client of all) responses.push(await talk(port, client));
  return responses;
}

function talk(port: number, { sends, leaves }: Client): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect(port, '127.0.0.1');
  const left = sends.map((text) => text.replaceAll('PORT', String(port)));
  let seen = '';
  const next = (): void => void socket.write(left.shift()!);
  socket.on('connect', next);
  socket.on('data', (bytes) => {
    seen += bytes.toString('latin1');
    if (leaves && seen.endsWith('waiting\r\n')) socket.destroy();
    else if (left.length > 0 && seen.includes('quick')) next();
  });
  socket.on('error', reject);
  socket.on('close', () => resolve(seen.replaceAll(/Date: [^\r]*/gi, 'Date')));
  return promise;
}
