import type { IncomingMessage } from 'node:http';
import type { Attributes } from '@opentelemetry/api';

/** Query parameters whose values are secrets: those of `@opentelemetry/instrumentation-http`. */
export const REDACTED_PARAMETERS: readonly string[] = [
  'sig',
  'Signature',
  'AWSAccessKeyId',
  'X-Goog-Signature',
  'X-Amz-Signature',
  'X-Amz-Credential',
  'X-Amz-Security-Token',
];

const METHODS = new Set('GET HEAD POST PUT DELETE CONNECT OPTIONS TRACE PATCH QUERY'.split(' '));

/**
 * Returns what a span has of a request when it starts, by the stable conventions of HTTP. The thread in Rust computes the same
 * for the spans it makes; this is for samplers, for processors and for the SDK's own spans.
 */
export function requestAttributes(request: IncomingMessage): Attributes {
  const { headers, method = 'GET', socket } = request;
  const scheme = 'encrypted' in socket ? 'https' : 'http';
  const attributes: Attributes = {
    ...methodAttributes(method),
    'url.scheme': scheme,
    'network.peer.address': socket.remoteAddress,
    'network.peer.port': socket.remotePort,
    'network.protocol.version': request.httpVersion,
    'user_agent.original': headers['user-agent'],
    'client.address': clientAddress(request),
    ...urlAttributes(request.url ?? '/', scheme, headers.host),
    ...serverAttributes(request, scheme),
  };
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined) delete attributes[key];
  }
  return attributes;
}

function methodAttributes(method: string): Attributes {
  const upper = method.toUpperCase();
  const known = METHODS.has(upper) ? upper : '_OTHER';
  if (known === method) return { 'http.request.method': known };
  return { 'http.request.method': known, 'http.request.method_original': method };
}

function urlAttributes(url: string, scheme: string, host = 'localhost'): Attributes {
  const parsed = URL.parse(url, `${scheme}://${host}`);
  if (parsed === null) return {};
  const { pathname, searchParams } = parsed;
  if (parsed.search === '') return { 'url.path': pathname };
  for (const name of REDACTED_PARAMETERS) {
    if (searchParams.has(name)) searchParams.set(name, 'REDACTED');
  }
  return { 'url.path': pathname, 'url.query': searchParams.toString() };
}

function serverAttributes({ headers }: IncomingMessage, scheme: string): Attributes {
  const forwarded = forwardedPart(headers.forwarded, 'host');
  const first = (name: string) => [headers[name]].flat()[0];
  const given = forwarded ?? first('x-forwarded-host') ?? headers.host;
  if (given === undefined || given === '') return {};
  const protocol =
    forwarded === undefined && given !== headers.host ? first('x-forwarded-proto') : scheme;
  const port = /:(\d+)$/.exec(given)?.[1];
  const address = port === undefined ? given : given.slice(0, -port.length - 1);
  const byScheme = protocol === 'http' ? 80 : protocol === 'https' ? 443 : undefined;
  return {
    'server.address': address,
    'server.port': port === undefined ? byScheme : Number(port),
  };
}

function clientAddress({ headers, socket }: IncomingMessage): string | undefined {
  const forwarded = forwardedPart(headers.forwarded, 'for');
  const listed = [headers['x-forwarded-for']].flat()[0]?.split(',', 1)[0]?.trim();
  const given = forwarded ?? (listed === '' ? undefined : listed);
  if (given === undefined) return socket.remoteAddress;
  const hostname = URL.parse(`http://${given}`)?.hostname;
  return hostname === undefined ? given : hostname.replace(/^\[(.*)\]$/, '$1');
}

/** The first value of a parameter of the header Forwarded (RFC 7239). */
function forwardedPart(header: string | undefined, name: string): string | undefined {
  if (header === undefined) return undefined;
  const found = new RegExp(`(?:^|[;,])\\s*${name}=(?:"([^"]*)"|([^;,\\s]*))`, 'i').exec(header);
  return found?.[1] ?? found?.[2];
}
