import { resolveRequest } from '../config/resolve-plan.ts';
import type { RequestConfig } from '../config/types.ts';
import { LabError } from '../errors.ts';
import type { Endpoint } from '../load/endpoint.ts';
import { label, sendOnceReady, statusText } from './contract.ts';
import type { Server } from './server.ts';

/**
 * Parses `POST /login {"user":"a"}`, or a body of form fields.
 * @throws {LabError} ERR_REDLINE_OPTION, without the text typed after the path
 */
export function parseLogin(text: string): Required<RequestConfig> {
  const [, method, path, body = ''] =
    /^\s*([A-Za-z]+)\s+(\/\S*)(?:\s+(.*\S))?\s*$/s.exec(text) ?? [];
  if (method === undefined || path === undefined) {
    throw new LabError(
      'ERR_REDLINE_OPTION',
      `--login takes a method, a path and a body: --login 'POST /login {"user":"me","password":"…"}'.`,
    );
  }
  const isJson = /^[{[]/.test(body);
  if (isJson) requireJson(body);
  const type = isJson ? 'application/json' : 'application/x-www-form-urlencoded';
  return resolveRequest({
    method: method.toUpperCase(),
    path,
    body,
    headers: body === '' ? {} : { 'content-type': type },
  });
}

function requireJson(body: string): void {
  try {
    JSON.parse(body);
  } catch {
    throw new LabError('ERR_REDLINE_OPTION', 'The body of --login begins like JSON, and is none.');
  }
}

/**
 * Logs in once, so that later requests to the server carry its cookies, or the token of its response. Each copy of an app may keep
 * its own sessions.
 * @param endpoint Endpoint of the server, if not its own port.
 * @throws {LabError} ERR_REDLINE_CONTRACT if the response has neither
 */
export async function signIn(
  server: Server,
  login: Required<RequestConfig>,
  endpoint: Endpoint = server,
): Promise<void> {
  const answer = await sendOnceReady(endpoint, login).catch(async (error: Error) => {
    throw await server.failure(`did not answer ${label(login)} (${error.message})`);
  });
  if (answer.status < 400 && answer.mcpSession !== undefined) {
    server.session = { 'mcp-session-id': answer.mcpSession };
    return;
  }
  const cookies = jarOf(answer.cookies ?? []);
  const token = cookies === '' ? tokenIn(answer.body) : undefined;
  if (answer.status >= 400 || (cookies === '' && token === undefined)) {
    const what = answer.status >= 400 ? '' : ', without a cookie and without a token';
    throw new LabError(
      'ERR_REDLINE_CONTRACT',
      `"${server.name}" answers the login ${label(login)} with ${statusText(answer)}${what}.`,
    );
  }
  server.session = token === undefined ? { cookie: cookies } : { authorization: `Bearer ${token}` };
}

/** Builds a Cookie header. The last value of a name wins; an empty value deletes the cookie. */
function jarOf(lines: readonly string[]): string {
  const jar = new Map<string, string>();
  for (const line of lines) {
    const [pair = ''] = line.split(';');
    const at = pair.indexOf('=');
    const [name, value] = [pair.slice(0, at).trim(), pair.slice(at + 1).trim()];
    if (at > 0 && value !== '') jar.set(name, value);
    else jar.delete(name);
  }
  return [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
}

const tokenNames = ['access_token', 'accessToken', 'token', 'jwt', 'id_token', 'idToken'];

/** Finds the token in `{ "access_token": "…" }`, or one level deeper. */
function tokenIn(body: Buffer): string | undefined {
  try {
    const read = JSON.parse(body.toString()) as Record<string, unknown> | null;
    const places = [read, ...Object.values(read ?? {})];
    for (const place of places) {
      if (typeof place !== 'object' || place === null) continue;
      const fields = place as Record<string, unknown>;
      const name = tokenNames.find((each) => typeof fields[each] === 'string');
      if (name !== undefined) return fields[name] as string;
    }
  } catch {
    // Not JSON, but a page.
  }
  return undefined;
}
