import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestConfig } from '../config/types.ts';
import { resolveRequest } from '../config/resolve-plan.ts';
import { LabError } from '../errors.ts';
import type { Endpoint } from '../load/endpoint.ts';
import { isWarmingUp, send } from '../servers/contract.ts';
import { actionIn } from './actions.ts';
import { plural } from '../report/format.ts';

export interface ChosenRequest {
  request: Required<RequestConfig>;
  /** One sentence for people. */
  why: string;
}

/** Each is asked once to see whether it answers, and those that do a few times more, warm: a moment for dozens of routes. */
const mostAsked = 40;
const warmAsks = 5;
const patienceMs = 2_000;
const mostWarmMs = 5_000;
const askAgainMs = 100;
/** Times this near to the longest cannot be distinguished by a few requests: then the larger response counts. */
const nearlyAsLong = 0.75;
/** What an orchestrator or a person who reads documentation asks is not what users wait for. */
const unimportant =
  /health|live(ness|z)|ready|readiness|debug|metrics|favicon|swagger|docs|openapi|\/status$|\/ping$/i;

const loginPage = /\/(log-?in|sign-?in|auth|sso|oauth2?|session\/new|accounts?\/login)\b/i;
const secured = 'https';

/** Files that a page is made of: a proxy or a CDN serves them, and none of the app's own work is in them. */
const asset =
  /\.(map|[cm]?js|css|html?|txt|xml|webmanifest|ico|png|jpe?g|gif|webp|avif|svg|woff2?|ttf|otf|eot|mp[34]|webm|wasm|pdf)$/i;

/** The GET routes of an app, by what becomes of them. */
export interface PickedRoutes {
  /** Paths that are asked, and nothing else is. */
  asked: string[];
  /** They look like actions. */
  actions: string[];
  /** Nobody has said which item: `/users/:id` */
  parametrised: string[];
  /** Health checks, documentation and the like, and those beyond the most that are asked. */
  others: string[];
}

/** Sorts routes before any of them is asked: some apps change something on a GET. */
export function pickRoutes(routes: readonly string[]): PickedRoutes {
  const picked: PickedRoutes = { asked: [], actions: [], parametrised: [], others: [] };
  const all = routes.map((route) =>
    // What is optional is left away.
    route.replaceAll(/\{\/[^}]*\}|\/:\w+(?:\([^)]*\))?\?/g, ''),
  );
  for (const path of new Set([...all.map((each) => (each === '' ? '/' : each)), '/'])) {
    if (actionIn(path) !== undefined) picked.actions.push(path);
    else if (/[:*(){}[\]+^$|]/.test(path)) picked.parametrised.push(path);
    else if (unimportant.test(path)) picked.others.push(path);
    else picked.asked.push(path);
  }
  picked.others.push(...picked.asked.splice(mostAsked));
  return picked;
}

/**
 * Of the routes that an app shows, the one that takes longest: nobody has said which is busiest, and the longest has most of
 * the app's own work in it, so that it promises least.
 * @throws {LabError} ERR_REDLINE_TRY when none of them succeeds
 */
export async function chooseRequest(
  endpoint: Endpoint,
  { asked: paths, parametrised, actions }: PickedRoutes,
  { headers, readyTimeoutMs, signal }: ChoiceOptions,
): Promise<ChosenRequest> {
  const deadline = Date.now() + readyTimeoutMs;
  const askAll = (): Promise<Found> => askEach(endpoint, paths, headers, signal);
  let found = await askAll();
  while (found.answering.length === 0 && found.isWarmingUp && Date.now() < deadline) {
    await sleep(askAgainMs, undefined, { signal });
    found = await askAll();
  }
  const { answering, refused } = found;
  const withLogin = refused.filter((each) => / 40[13]$| to a login page$/.test(each)).length;
  const own = answering.filter(({ path }) => !asset.test(path));
  const candidates = own.length > 0 ? own : answering;
  if (candidates.length === 0) {
    if (refused.some((each) => each.endsWith(`redirects to ${secured}`))) {
      throw new LabError(
        'ERR_REDLINE_TRY',
        'Not for you: what the app serves over HTTP only redirects to https, and TLS in the process stays with Node. It pays where a proxy terminates TLS.',
      );
    }
    throw nothingAnswers(refused, [...parametrised, ...actions]);
  }
  const { path } = await longest(endpoint, candidates, headers, signal);
  const chosen =
    candidates.length === 1
      ? 'The only GET route that was found to answer.'
      : `Of ${plural(candidates.length, 'GET route')} that answer, the one that takes longest.`;
  // What users wait for may be behind it.
  const others =
    withLogin === 0
      ? ''
      : ` ${plural(withLogin, 'other')} ${withLogin === 1 ? 'asks' : 'ask'} for a login: add -H 'authorization: …'.`;
  return {
    request: resolveRequest({ path, headers }),
    why: `${chosen}${others} Name another by its URL.`,
  };
}

interface ChoiceOptions {
  headers: Record<string, string>;
  readyTimeoutMs: number;
  signal: AbortSignal;
}

interface Found {
  answering: Asked[];
  refused: string[];
  /** One of them says that the app is not ready yet. */
  isWarmingUp: boolean;
}

async function askEach(
  endpoint: Endpoint,
  paths: readonly string[],
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<Found> {
  const found: Found = { answering: [], refused: [], isWarmingUp: false };
  for (const path of paths) {
    signal.throwIfAborted();
    const outcome = await askOnce(endpoint, resolveRequest({ path, headers }));
    if (typeof outcome !== 'string') found.answering.push({ path, ...outcome });
    else {
      found.refused.push(`GET ${path} ${outcome}`);
      found.isWarmingUp ||= isWarmingUp({ status: Number(/^answers (\d+)$/.exec(outcome)?.[1]) });
    }
  }
  return found;
}

/** Compares them warm: what is asked first pays for what the others have in common. */
async function longest(
  endpoint: Endpoint,
  candidates: readonly Asked[],
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<Asked> {
  if (candidates.length === 1) return candidates[0]!;
  const warm = new Map(candidates.map(({ path }) => [path, Infinity]));
  const until = performance.now() + mostWarmMs;
  for (let ask = 0; ask < warmAsks && (ask === 0 || performance.now() < until); ask++) {
    for (const { path } of candidates) {
      signal.throwIfAborted();
      const outcome = await askOnce(endpoint, resolveRequest({ path, headers }));
      if (typeof outcome !== 'string') warm.set(path, Math.min(warm.get(path)!, outcome.ms));
    }
  }
  const timed = candidates.filter(({ path }) => warm.get(path)! < Infinity);
  const most = Math.max(...timed.map(({ path }) => warm.get(path)!));
  const slow = timed.filter(({ path }) => warm.get(path)! >= most * nearlyAsLong);
  return (slow.length > 0 ? slow : candidates).reduce((largest, each) =>
    each.bytes > largest.bytes ? each : largest,
  );
}

interface Asked {
  path: string;
  ms: number;
  bytes: number;
}

/** How long a response takes, and its size; or why it cannot be measured. */
async function askOnce(
  endpoint: Endpoint,
  request: Required<RequestConfig>,
): Promise<Omit<Asked, 'path'> | string> {
  const before = performance.now();
  try {
    const { status, body, location } = await send(endpoint, request, patienceMs);
    if (status < 200 || status >= 400) return `answers ${status}`;
    // A redirect is not the app: what it leads to is served by TLS, or waits for a login.
    if (status >= 300 && location?.startsWith('https:')) return `redirects to ${secured}`;
    if (status >= 300 && loginPage.test(location ?? '')) return 'redirects to a login page';
    return { ms: performance.now() - before, bytes: body.length };
  } catch (error) {
    return `fails: ${(error as Error).message}`;
  }
}

function nothingAnswers(refused: readonly string[], unasked: readonly string[]): LabError {
  const some = refused.slice(0, 4).join(', ');
  const more = refused.length > 4 ? `, and ${refused.length - 4} more` : '';
  const others =
    unasked.length === 0 ? '' : ` ${unasked.slice(0, 3).join(', ')} and the like were not asked.`;
  return new LabError(
    'ERR_REDLINE_TRY',
    `No route was found that answers with 2xx or 3xx (${some}${more}).${others} Name one before the command: /path -- COMMAND, with -H for a header.`,
  );
}
