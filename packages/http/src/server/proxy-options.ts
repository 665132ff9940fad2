import { isIP } from 'node:net';
import { HttpError } from '../errors.ts';

/** The `proxyProtocol` option of a server. */
export interface ProxyProtocolOptions {
  /**
   * The proxies: IP addresses, networks such as `10.0.0.0/8` and `fd00::/8`, and `unix` for any process that can open the
   * server's Unix socket. Each of their connections must begin with a header; connections from other addresses are dropped.
   */
  readonly from: readonly string[];
  /**
   * Max time for a header, in ms from the start of its connection; 0 disables the limit.
   * @default 5000
   */
  readonly timeoutMs?: number;
}

/** The options in the engine's form. */
export interface ResolvedProxies {
  readonly from: readonly string[];
  readonly timeoutMs: number;
}

const known: Readonly<Record<keyof ProxyProtocolOptions, true>> = { from: true, timeoutMs: true };

/**
 * Returns the trusted proxies of a server, if it has the option.
 *
 * @throws ERR_REDLINE_HTTP_OPTION
 */
export function proxiesOf(options: unknown): ResolvedProxies | undefined {
  const { proxyProtocol } = (options ?? {}) as { proxyProtocol?: unknown };
  if (proxyProtocol === undefined) return undefined;
  if (typeof proxyProtocol !== 'object' || proxyProtocol === null) {
    throw wrong('proxyProtocol', 'an object with `from`', proxyProtocol);
  }
  const unknown = Object.keys(proxyProtocol).find((name) => !Object.hasOwn(known, name));
  if (unknown !== undefined) {
    throw new HttpError(
      'ERR_REDLINE_HTTP_OPTION',
      `Unknown option "${unknown}" of proxyProtocol. Known options: ${Object.keys(known).join(', ')}.`,
    );
  }
  const { from, timeoutMs = 5000 } = proxyProtocol as Partial<ProxyProtocolOptions>;
  if (!Array.isArray(from) || from.length === 0) {
    throw wrong('proxyProtocol.from', 'a list of at least one address or network', from);
  }
  for (const network of from as unknown[]) {
    if (!isNetwork(network)) {
      const expected = 'addresses, networks such as 10.0.0.0/8, or "unix"';
      throw wrong('proxyProtocol.from', expected, network);
    }
  }
  if (!Number.isInteger(timeoutMs) || timeoutMs < 0 || timeoutMs > 0x7fff_ffff) {
    throw wrong('proxyProtocol.timeoutMs', '0 to 2147483647 milliseconds', timeoutMs);
  }
  return { from: [...(from as string[])], timeoutMs };
}

/**
 * Rejects the option on Node's own server: it does not read the header, and would treat every peer as the client.
 *
 * @throws ERR_REDLINE_HTTP_OPTION
 */
export function refuseProxies(options: unknown, reason: string): void {
  if (proxiesOf(options) === undefined) return;
  throw new HttpError(
    'ERR_REDLINE_HTTP_OPTION',
    `The option proxyProtocol needs the native engine: ${reason}. Have the proxy send X-Forwarded-For instead.`,
  );
}

function isNetwork(network: unknown): boolean {
  if (typeof network !== 'string') return false;
  if (network === 'unix') return true;
  const [address = '', bits, ...more] = network.split('/');
  const kind = isIP(address);
  // A zone is only valid on this machine.
  if (kind === 0 || more.length > 0 || address.includes('%')) return false;
  return (
    bits === undefined ||
    (/^(?:0|[1-9]\d{0,2})$/.test(bits) && Number(bits) <= (kind === 4 ? 32 : 128))
  );
}

function wrong(name: string, expected: string, value: unknown): HttpError {
  const shown = typeof value === 'string' ? `"${value}"` : String(value);
  return new HttpError(
    'ERR_REDLINE_HTTP_OPTION',
    `The option ${name} must be ${expected}; got ${shown}.`,
  );
}
