import { connect } from 'node:net';
import type { RequestConfig } from '../config/types.ts';

/** The address of a server on this machine. */
export interface Endpoint {
  host: Loopback;
  port: number;
  /** Headers that every request to it needs, such as the cookies of a login. */
  session?: Session | undefined;
}

export type Session = Readonly<Record<string, string>>;

/** Adds the session of this server to the requests. */
export function withSession(
  { session }: Pick<Endpoint, 'session'>,
  requests: readonly Required<RequestConfig>[],
): readonly Required<RequestConfig>[] {
  if (session === undefined) return requests;
  return requests.map((each) => ({ ...each, headers: { ...each.headers, ...session } }));
}

export type Loopback = '127.0.0.1' | '::1';

const loopbacks: readonly Loopback[] = ['127.0.0.1', '::1'];

/** Returns, for example, `http://[::1]:3000`. */
export function originOf({ host, port }: Endpoint): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/**
 * Finds the address that accepts connections to a port: where `localhost` leads to ::1, a server that listens on it is not at
 * 127.0.0.1.
 * @param first Tried before the other; ignored if it is not a loopback address.
 */
export async function findEndpoint(port: number, first?: string): Promise<Endpoint | undefined> {
  const inOrder = loopbacks.toSorted((a, b) => Number(b === first) - Number(a === first));
  for (const host of inOrder) if (await acceptsConnection({ host, port })) return { host, port };
  return undefined;
}

export function acceptsConnection({ host, port }: Endpoint): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    const finish = (accepted: boolean): void => {
      socket.destroy();
      resolve(accepted);
    };
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
    socket.setTimeout(1_000, () => finish(false));
  });
}
