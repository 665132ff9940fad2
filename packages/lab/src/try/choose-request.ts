import { setTimeout as sleep } from 'node:timers/promises';
import { basename } from 'node:path';
import type { RequestConfig } from '../config/types.ts';
import { resolveRequest } from '../config/resolve-plan.ts';
import { LabError } from '../errors.ts';
import type { Endpoint } from '../load/endpoint.ts';
import { isWarmingUp, label, routesWithinMs, send } from '../servers/contract.ts';
import { percent, plural } from '../report/format.ts';
import { readAccessLog } from '../access-log/read-access-log.ts';
import { RoutePatterns } from '../access-log/route-pattern.ts';
import { RouteCosts } from '../access-log/top.ts';
import { actionIn } from './actions.ts';

export interface ChosenRequest {
  request: Required<RequestConfig>;
  /** One sentence for display. */
  why: string;
}

/**
 * Max number of routes tried. Each is requested once to see if it succeeds, and successful ones a few times more, warm: a moment
 * for dozens of routes.
 */
const maxAsked = 40;
const warmAsks = 5;
const patienceMs = 2_000;
/** Used when no route responds faster. */
const slowPatienceMs = 10_000;
const maxWarmMs = 5_000;
const askAgainMs = 100;
const askForRoutesAgainMs = 500;
/** Times this near to the longest cannot be distinguished by a few requests: the larger response is preferred then. */
const minShareOfLongest = 0.75;
/** Routes for orchestrators and for readers of documentation: users do not wait for them. */
const operatorRoutes =
  /health|live(ness|z)|ready|readiness|debug|metrics|favicon|swagger|docs|openapi|\/status$|\/ping$/i;

/** True if a route is meant for operators of the app. */
export function isOperatorRoute(route: string): boolean {
  return operatorRoutes.test(route);
}

const loginPage = /\/(log-?in|sign-?in|auth|sso|oauth2?|session\/new|accounts?\/login)\b/i;
const secured = 'https';

/** Static files of a page: a proxy or a CDN serves them, and they contain none of the app's own work. */
const asset =
  /\.(map|[cm]?js|css|html?|txt|xml|webmanifest|ico|png|jpe?g|gif|webp|avif|svg|woff2?|ttf|otf|eot|mp[34]|webm|wasm|pdf)$/i;

/** The GET routes of an app, grouped by how they are treated. */
export interface PickedRoutes {
  /** Paths that are requested; no others are. */
  asked: string[];
  /** Paths that look like actions. */
  actions: string[];
  /** Paths with a parameter whose value is unknown: `/users/:id` */
  parametrised: string[];
  /** Health checks, documentation and the like, and paths above the max number of requests. */
  others: string[];
}

/** Sorts routes before any request: some apps change data on a GET. */
export function pickRoutes(routes: readonly string[]): PickedRoutes {
  const picked: PickedRoutes = { asked: [], actions: [], parametrised: [], others: [] };
  const all = routes.map((route) =>
    // Optional parts are removed.
    route.replaceAll(/\{\/[^}]*\}|\/:\w+(?:\([^)]*\))?\?/g, ''),
  );
  for (const path of new Set([...all.map((each) => (each === '' ? '/' : each)), '/'])) {
    if (actionIn(path) !== undefined) picked.actions.push(path);
    else if (/[:*(){}[\]+^$|]/.test(path)) picked.parametrised.push(path);
    else if (isOperatorRoute(path)) picked.others.push(path);
    else picked.asked.push(path);
  }
  picked.others.push(...picked.asked.splice(maxAsked));
  return picked;
}

/**
 * Chooses the slowest route that an app shows: the busiest one is unknown, and the slowest contains most of the app's own work, so
 * that it promises the smallest gain.
 * @throws {LabError} ERR_REDLINE_TRY when none of them succeeds
 */
export async function chooseRequest(
  endpoint: Endpoint,
  { asked: paths, parametrised, actions }: PickedRoutes,
  { headers, readyTimeoutMs, tls, signal }: ChoiceOptions,
): Promise<ChosenRequest> {
  const requests = paths.map((path) => resolveRequest({ path, headers }));
  const found = await askUntilReady(endpoint, requests, { readyTimeoutMs, signal });
  const { answering, refused } = found;
  const withLogin = refused.filter((each) => / 40[13]$| to a login page$/.test(each)).length;
  const own = answering.filter(({ request }) => !asset.test(request.path));
  const candidates = own.length > 0 ? own : answering;
  if (candidates.length === 0) {
    if (refused.some((each) => each.endsWith(`redirects to ${secured}`))) {
      throw new LabError('ERR_REDLINE_TRY', tlsOnlyText(tls));
    }
    throw nothingAnswers(refused, [...parametrised, ...actions]);
  }
  const { request } = await longest(endpoint, candidates, signal);
  const chosen =
    candidates.length === 1
      ? 'The only GET route that was found to answer.'
      : `Of ${plural(candidates.length, 'GET route')} that answer, the one that takes longest.`;
  // The routes that users wait for may require the login.
  const others =
    withLogin === 0
      ? ''
      : ` ${plural(withLogin, 'other')} ${withLogin === 1 ? 'asks' : 'ask'} for a login: add --login, or -H 'authorization: …'.`;
  return { request, why: `${chosen}${others} Name another by its URL.` };
}

/** Chooses the slowest of the requests that a description of the app lists; undefined if none succeeds. */
export async function chooseAmong(
  endpoint: Endpoint,
  requests: readonly Required<RequestConfig>[],
  signal: AbortSignal,
): Promise<Required<RequestConfig> | undefined> {
  const asking = { signal, forMs: patienceMs };
  const { answering } = await askEach(endpoint, requests.slice(0, maxAsked), asking);
  return answering.length === 0 ? undefined : (await longest(endpoint, answering, signal)).request;
}

/** Repeats all requests while none succeeds and one of the responses says that the app is not ready yet. */
async function askUntilReady(
  endpoint: Endpoint,
  requests: readonly Required<RequestConfig>[],
  { readyTimeoutMs, signal }: Pick<ChoiceOptions, 'readyTimeoutMs' | 'signal'>,
): Promise<Found> {
  const [askedAt, deadline] = [Date.now(), Date.now() + readyTimeoutMs];
  const askAll = (forMs = patienceMs): Promise<Found> =>
    askEach(endpoint, requests, { signal, forMs });
  let found = await askAll();
  if (found.answering.length === 0 && found.isSlow) found = await askAll(slowPatienceMs);
  while (found.answering.length === 0) {
    const { isWarmingUp: waits, refused } = found;
    const mayCome = refused.some((each) => each.endsWith('answers 404'));
    if (Date.now() > (waits ? deadline : mayCome ? askedAt + routesWithinMs : 0)) break;
    await sleep(waits ? askAgainMs : askForRoutesAgainMs, undefined, { signal });
    found = await askAll();
  }
  return found;
}

interface ChoiceOptions {
  headers: Record<string, string>;
  readyTimeoutMs: number;
  /** Port where the app itself terminates TLS. */
  tls?: number | string;
  signal: AbortSignal;
}

/** Explains that an app only redirects from its plain port to https. */
export function tlsOnlyText(tls: number | string | undefined): string {
  const where = tls === undefined ? '' : `: port ${tls} terminates it`;
  return `Not for you: what the app serves over HTTP only redirects to https, and TLS in the process stays with Node${where}. It pays where a proxy terminates TLS.`;
}

interface Found {
  answering: Asked[];
  refused: string[];
  /** True if a response says that the app is not ready yet. */
  isWarmingUp: boolean;
  /** True if a request timed out. */
  isSlow: boolean;
}

interface Asking {
  signal: AbortSignal;
  /** Time-out of each request. */
  forMs: number;
}

async function askEach(
  endpoint: Endpoint,
  requests: readonly Required<RequestConfig>[],
  { signal, forMs }: Asking,
): Promise<Found> {
  const found: Found = { answering: [], refused: [], isWarmingUp: false, isSlow: false };
  for (const request of requests) {
    signal.throwIfAborted();
    const outcome = await askOnce(endpoint, request, forMs);
    if (typeof outcome !== 'string') found.answering.push({ request, ...outcome });
    else {
      found.refused.push(`${label(request)} ${outcome}`);
      found.isSlow ||= outcome.startsWith('fails: no response');
      found.isWarmingUp ||= isWarmingUp({ status: Number(/^answers (\d+)$/.exec(outcome)?.[1]) });
    }
  }
  return found;
}

/** Compares requests warm: the first request pays for whatever the others share. */
async function longest(
  endpoint: Endpoint,
  candidates: readonly Asked[],
  signal: AbortSignal,
): Promise<Asked> {
  if (candidates.length === 1) return candidates[0]!;
  const warm = new Map(candidates.map((each) => [each, Infinity]));
  const until = performance.now() + maxWarmMs;
  for (let ask = 0; ask < warmAsks && (ask === 0 || performance.now() < until); ask++) {
    for (const each of candidates) {
      signal.throwIfAborted();
      const outcome = await askOnce(endpoint, each.request);
      if (typeof outcome !== 'string') warm.set(each, Math.min(warm.get(each)!, outcome.ms));
    }
  }
  const timed = candidates.filter((each) => warm.get(each)! < Infinity);
  const longestMs = Math.max(...timed.map((each) => warm.get(each)!));
  const slow = timed.filter((each) => warm.get(each)! >= longestMs * minShareOfLongest);
  return (slow.length > 0 ? slow : candidates).reduce((largest, each) =>
    each.bytes > largest.bytes ? each : largest,
  );
}

interface Asked {
  request: Required<RequestConfig>;
  ms: number;
  bytes: number;
}

/** Returns the time and the size of a response, or the reason why it cannot be measured. */
async function askOnce(
  endpoint: Endpoint,
  request: Required<RequestConfig>,
  forMs: number = slowPatienceMs,
): Promise<Omit<Asked, 'request'> | string> {
  const before = performance.now();
  try {
    const { status, body, location } = await send(endpoint, request, { timeoutMs: forMs });
    if (status < 200 || status >= 400) return `answers ${status}`;
    // A redirect does not reach the app: its target is served over TLS, or requires a login.
    if (status >= 300 && location?.startsWith('https:')) return `redirects to ${secured}`;
    if (status >= 300 && loginPage.test(location ?? '')) return 'redirects to a login page';
    return { ms: performance.now() - before, bytes: body.length };
  } catch (error) {
    return `fails: ${(error as Error).message}`;
  }
}

/** Thrown if none of the visible routes of an app succeeds; its own description may list others. */
export class NoRouteError extends LabError {}

/** Returns the requests that succeed, and the responses to the others. */
export async function succeeding(
  endpoint: Endpoint,
  requests: readonly Required<RequestConfig>[],
  signal: AbortSignal,
): Promise<{ requests: Required<RequestConfig>[]; refused: string[] }> {
  const asking = { signal, forMs: slowPatienceMs };
  const { answering, refused } = await askEach(endpoint, requests, asking);
  return { requests: answering.map(({ request }) => request), refused };
}

function nothingAnswers(refused: readonly string[], unasked: readonly string[]): NoRouteError {
  const some = refused.slice(0, 4).join(', ');
  const more = refused.length > 4 ? `, and ${refused.length - 4} more` : '';
  const others =
    unasked.length === 0 ? '' : ` ${unasked.slice(0, 3).join(', ')} and the like were not asked.`;
  return new NoRouteError(
    'ERR_REDLINE_TRY',
    `No route was found that answers with 2xx or 3xx (${some}${more}).${others} Name one before the command: /path -- COMMAND, with -H for a header.`,
  );
}

/**
 * Finds the GET route of a log that takes the most time in total, or the most frequent one if the log has no durations.
 * @throws {LabError} ERR_REDLINE_ACCESS_LOG
 */
export async function busiestRoute(
  log: string,
  signal: AbortSignal,
): Promise<{ route: string; why: string }> {
  const costs = new RouteCosts(new RoutePatterns());
  await readAccessLog([log], (request) => costs.add(request), signal);
  const { routes, hasDurations } = costs.summarise();
  const busiest = routes.find(
    ({ method, requests, serverErrors }) => method === 'GET' && serverErrors < requests,
  );
  if (busiest === undefined) {
    throw new LabError('ERR_REDLINE_ACCESS_LOG', `${log} has no GET request that succeeded.`);
  }
  const share = `${percent(busiest.share)} of its ${hasDurations ? 'time' : 'requests'}`;
  return {
    route: busiest.route,
    why: `The busiest GET route of ${basename(log)}, with ${share}.`,
  };
}
