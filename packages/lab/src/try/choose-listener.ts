import { resolveRequest } from '../config/resolve-plan.ts';
import type { Endpoint } from '../load/endpoint.ts';
import { type Answer, send } from '../servers/contract.ts';
import { isOperatorRoute } from './choose-request.ts';
import type { Listening } from './preload/protocol.ts';

/** Ports of Prometheus and its exporters, OpenTelemetry, and Node's inspector. */
const metricsPorts = new Set<number | string>([9090, 9091, 9100, 9113, 9229, 9464, 8125, 9102]);

/** The listeners of an app, and the one to send requests to. */
export interface ChosenListener {
  main: Listening | undefined;
  /** Candidates that only a request can tell apart; `main` is one of them. */
  undecided: Listening[];
}

/**
 * Chooses the listener of the given port; among HTTP listeners, that of `PORT`, the one with the most routes, or one that shows no
 * routes. Listeners with only metrics and health checks come last.
 * @param own The port that the app was given.
 */
export function chooseListener(
  listeners: readonly Listening[],
  { wanted, own }: { wanted: number | string | undefined; own: number },
): ChosenListener {
  const named = listeners.find(({ asked }) => asked === wanted);
  if (named !== undefined) return { main: named, undecided: [] };
  const speaking = listeners.filter(({ kind }) => kind === 'http');
  const application = speaking.filter((each) => !isOperatorListener(each));
  const candidates = application.length > 0 ? application : speaking;
  const onPort = candidates.find(({ port }) => port === own);
  if (onPort !== undefined) return { main: onPort, undecided: [] };
  const routes = candidates.toSorted((a, b) => countUserRoutes(b) - countUserRoutes(a));
  const [first] = routes;
  if (first === undefined) {
    return { main: listeners.find(({ kind }) => kind !== 'other'), undecided: [] };
  }
  const undecided = countUserRoutes(first) > 0 ? [] : candidates;
  return { main: first, undecided: undecided.length > 1 ? undecided : [] };
}

/** True if the listener shows nothing that users request. */
export function isOperatorListener({ asked, routes, kind }: Listening): boolean {
  if (kind !== 'http') return false;
  return metricsPorts.has(asked) || (routes.length > 0 && routes.every(isOperatorRoute));
}

function countUserRoutes({ routes }: Listening): number {
  return routes.filter((each) => !isOperatorRoute(each)).length;
}

/** Chooses among listeners that show no routes: the one whose `GET /` looks most like an application. */
export async function askListeners(
  listeners: readonly Listening[],
  endpointOf: (listener: Listening) => Promise<Endpoint>,
): Promise<Listening> {
  let best: { listener: Listening; score: number } | undefined;
  for (const listener of listeners) {
    const request = resolveRequest('/');
    const score = await endpointOf(listener)
      .then((endpoint) => send(endpoint, request, { timeoutMs: patienceMs }))
      .then(scoreOf, () => 0);
    if (best === undefined || score > best.score) best = { listener, score };
  }
  return best!.listener;
}

const patienceMs = 2_000;
const metricsPage = /^# (HELP|TYPE) /m;

function scoreOf({ status, body, location }: Answer): number {
  if (status >= 300 && status < 400) return location?.startsWith('/') ? 3 : 1;
  if (status >= 200 && status < 300)
    return metricsPage.test(body.toString('latin1', 0, 500)) ? 1 : 4;
  return status === 401 || status === 403 ? 3 : 2;
}

/** Formats e.g. `port 3000 (HTTP, Express, 3 GET routes)`. */
export function listenerText({ asked, port, kind, routes, framework }: Listening): string {
  const place =
    typeof asked === 'string'
      ? `the Unix socket ${asked}, in this run at port ${port}`
      : asked === port || asked === 0
        ? `port ${port}`
        : `port ${asked}, in this run at ${port}`;
  const protocol = { http: 'HTTP', http2: 'HTTP/2', tls: 'TLS', other: 'not HTTP' }[kind];
  const shown =
    routes.length === 0 ? [] : [`${routes.length} GET route${routes.length === 1 ? '' : 's'}`];
  return `${place} (${[protocol, ...(framework === undefined ? [] : [framework]), ...shown].join(', ')})`;
}
