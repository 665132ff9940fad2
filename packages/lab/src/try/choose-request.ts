import type { RequestConfig } from '../config/types.ts';
import { resolveRequest } from '../config/resolve-plan.ts';
import { LabError } from '../errors.ts';
import type { Endpoint } from '../load/endpoint.ts';
import { send } from '../servers/contract.ts';
import { plural } from '../report/format.ts';

export interface ChosenRequest {
  request: Required<RequestConfig>;
  /** One sentence for people. */
  why: string;
}

/** Each is asked a few times: enough to choose one, and a moment for dozens of routes. */
const mostAsked = 40;
const asksEach = 8;
const patienceMs = 2_000;
/** Times this near to the longest cannot be distinguished by a few requests: then the larger response counts. */
const nearlyAsLong = 0.75;
/** Some apps change something on a GET; and what an orchestrator asks is not what users wait for. */
const leftOut =
  /log-?out|sign-?out|exit|shut-?down|crash|delete|remove|reset|debug|health|live(ness|z)|ready|readiness|metrics|favicon|swagger|docs|openapi|\/status$|\/ping$/i;

/** Files that a page is made of: a proxy or a CDN serves them, and none of the app's own work is in them. */
const asset =
  /\.(map|[cm]?js|css|html?|txt|xml|webmanifest|ico|png|jpe?g|gif|webp|avif|svg|woff2?|ttf|otf|eot|mp[34]|webm|wasm|pdf)$/i;

/**
 * Of the routes that an app shows, the one that takes longest: nobody has said which is busiest, and the longest has most of
 * the app's own work in it, so that it promises least.
 * @throws {LabError} ERR_REDLINE_TRY when none of them succeeds
 */
export async function chooseRequest(
  endpoint: Endpoint,
  routes: readonly string[],
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<ChosenRequest> {
  const paths = concrete(routes);
  const asked: Asked[] = [];
  const refused: string[] = [];
  let withLogin = 0;
  for (const path of paths.slice(0, mostAsked)) {
    signal.throwIfAborted();
    const outcome = await ask(endpoint, resolveRequest({ path, headers }));
    if (typeof outcome !== 'string') asked.push({ path, ...outcome });
    else {
      refused.push(`GET ${path} ${outcome}`);
      if (/ 40[13]$/.test(outcome)) withLogin++;
    }
  }
  const useful = asked.filter(({ path }) => !leftOut.test(path));
  const own = useful.filter(({ path }) => !asset.test(path));
  const candidates = [own, useful].find(({ length }) => length > 0) ?? asked;
  if (candidates.length === 0) throw nothingAnswers(refused);
  const longest = Math.max(...candidates.map(({ ms }) => ms));
  const { path } = candidates
    .filter(({ ms }) => ms >= longest * nearlyAsLong)
    .reduce((most, each) => (each.bytes > most.bytes ? each : most));
  const chosen =
    candidates.length === 1
      ? 'The only GET route that was found to answer.'
      : `Of ${plural(candidates.length, 'GET route')} that answer, the one that takes longest.`;
  // What users wait for may be behind it.
  const others =
    withLogin === 0
      ? ''
      : ` ${plural(withLogin, 'other')} answered 401 or 403: add -H 'authorization: …'.`;
  return {
    request: resolveRequest({ path, headers }),
    why: `${chosen}${others} Name another by its URL.`,
  };
}

interface Asked {
  path: string;
  ms: number;
  bytes: number;
}

/** How long a response takes at least, and its size; or why it cannot be measured. */
async function ask(
  endpoint: Endpoint,
  request: Required<RequestConfig>,
): Promise<Omit<Asked, 'path'> | string> {
  const least = { ms: Infinity, bytes: 0 };
  for (let count = 0; count < asksEach; count++) {
    const before = performance.now();
    try {
      const { status, body } = await send(endpoint, request, patienceMs);
      if (status < 200 || status >= 400) return `answers ${status}`;
      least.bytes = body.length;
    } catch (error) {
      return `fails: ${(error as Error).message}`;
    }
    least.ms = Math.min(least.ms, performance.now() - before);
    // A route of half a second is known after one.
    if (least.ms * asksEach > patienceMs) break;
  }
  return least;
}

/** `/items/:id` as somebody might ask for it; what cannot be guessed is left out. */
function concrete(routes: readonly string[]): string[] {
  const paths = routes.flatMap((route) => {
    const plain = route
      .replaceAll(/\{[^}]*\}/g, '')
      .replaceAll(/\/:\w+(?:\([^)]*\))?\?/g, '')
      .replaceAll(/:\w+(?:\([^)]*\))?/g, '1');
    return plain === '' || /[*()[\]+^$|]/.test(plain) ? [] : [plain];
  });
  return [...new Set([...paths, '/'])];
}

function nothingAnswers(refused: readonly string[]): LabError {
  const some = refused.slice(0, 4).join(', ');
  const more = refused.length > 4 ? `, and ${refused.length - 4} more` : '';
  return new LabError(
    'ERR_REDLINE_TRY',
    `No route was found that answers with 2xx or 3xx (${some}${more}). Name one before the command: /path -- COMMAND, with -H for a header.`,
  );
}
