import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RequestConfig } from '../config/types.ts';
import { LabError } from '../errors.ts';
import type { Endpoint } from '../load/endpoint.ts';
import { measureRequestCost } from '../profile/suitable-load.ts';
import {
  type Answer,
  answersOf,
  label,
  requireSame,
  send,
  sendOnceReady,
  statusText,
  distinctRequests,
} from '../servers/contract.ts';
import { signIn } from '../servers/sign-in.ts';
import { pinSelf } from '../system/pinning.ts';
import { plural } from '../report/format.ts';
import { describedRequests } from './apis/described.ts';
import { unchanged, withRedline } from './app.ts';
import { askListeners } from './choose-listener.ts';
import {
  chooseAmong,
  chooseRequest,
  NoRouteError,
  pickRoutes,
  succeeding,
  tlsOnlyText,
} from './choose-request.ts';
import type { FirstScreen } from './first-screen.ts';
import { recordingOf } from './har.ts';
import { type Pace, paceSentence, type Speed, timeLimitMsOf } from './pace.ts';
import { findPreload, type Preload } from './packages.ts';
import { firstHttp, type Listening } from './preload/protocol.ts';
import { Recorder } from './record.ts';
import { startSecondCopy } from './second-copy.ts';
import type { TryTarget } from './target.ts';
import { Trial, type TrialOptions } from './trial.ts';

/** Facts about an app after it has been started three times. */
export interface Prepared {
  requests: Required<RequestConfig>[];
  /** Set if the requests were found here. */
  why: string | undefined;
  compared: 'body' | 'status';
  preloads: Preload[];
  /** The listener to send requests to, as the app opened it. */
  main: Listening;
  /** True if it listens there whatever the value of `PORT`. */
  isFixed: boolean;
  /** The port to redirect, because copies side by side would both use it. */
  redirecting: number | string | undefined;
  speed: Speed;
  pace: Pace;
  /** Time of the announcement, from `performance.now()`. */
  announcedAt: number;
  /** The app's own message why its copies cannot run side by side. */
  refusal: string | undefined;
}

interface Preparation {
  env: Record<string, string>;
  signal: AbortSignal;
  screen: FirstScreen;
  /** Chooses the settings once the time of a start and of a response are known. */
  paceFor(speed: Speed): Pace;
  /** False if the user chose the number of restarts: the run then takes as long as they take. */
  isTimed: boolean;
  phase(text: string): void;
  /** Clears the progress line before the first screen. */
  clear(): void;
}

/** More requests than rate limiters allow in a minute or in a second; a few at a time, as a page sends them. */
const burst = 1_200;
const burstMs = 1_000;
const atATime = 8;

/** Max requests of a log that are compared. */
const maxChecked = 20;

/**
 * Starts the app unchanged and finds its listener and its responses; starts it once more, and once with redline, and compares the
 * responses.
 * @returns undefined if the user, or --dry-run, stops it before the first request
 * @throws {LabError} ERR_REDLINE_TRY, ERR_REDLINE_SERVER, ERR_REDLINE_CONTRACT
 */
export async function prepare(
  target: TryTarget,
  { phase, clear, screen, paceFor, isTimed, ...common }: Preparation,
): Promise<Prepared | undefined> {
  const { app, plan } = target;
  const { signal } = common;
  const http = findPreload('@redline/http', app.cwd);
  if (!(await screen.beforeStart(target, signal))) return undefined;
  const folder = await mkdtemp(join(tmpdir(), 'redline-try-'));
  const options: TrialOptions = {
    ...common,
    app,
    pinning: pinSelf(false),
    folder,
    readyTimeoutMs: plan.readyTimeoutMs,
  };
  try {
    phase('starting the app, to see where it listens');
    await using first = await Trial.start(options, { name: unchanged, preloads: [] });
    if (!target.hasRequests) await first.untilNoNewRoutes(signal);
    clear();
    if (!(await screen.beforeRequests(target, first, signal))) return undefined;
    phase('asking its routes');
    const main = await mainOf(first, target);
    const { requests, why, startsChildren } = await chooseAll(first, main, target, {
      screen,
      signal,
    });
    const preloads = startsChildren
      ? [http, findPreload('@redline/child-process', app.cwd)]
      : [http];
    const isFixed = main.port !== first.server.port;
    let how = isFixed ? { main: main.asked } : {};
    const checked = distinctRequests(requests).slice(0, maxChecked);
    const endpoint = await first.endpoint(main);
    const answers = await answersOf(first.server, checked, { endpoint, signal });
    const requestCost = await measureRequestCost(
      first.server,
      { ...plan, requests },
      signal,
      endpoint,
    );
    const speed = { ...requestCost, startMs: first.startMs };
    const pace = paceFor(speed);
    const announcedAt = performance.now();
    clear();
    screen.beforeMeasuring(paceSentence(pace, speed));
    phase('comparing its responses with and without redline');
    const over = isTimed ? AbortSignal.timeout(timeLimitMsOf(pace)) : undefined;
    const either = over === undefined ? signal : AbortSignal.any([signal, over]);
    const start = async (name: string, packages: Preload[]): Promise<Asked> => {
      const begin = (): Promise<Trial> =>
        Trial.start({ ...options, signal: either }, { name, preloads: packages, ...how });
      let trial = await begin();
      const { server } = trial;
      const isThere = trial.listeners.some((each) => each.port === server.port);
      if (!isThere && how.main !== firstHttp) {
        await trial[Symbol.asyncDispose]();
        how = { main: firstHttp };
        trial = await begin();
      }
      try {
        if (plan.login !== undefined) await signIn(trial.server, plan.login);
        return { trial, answers: await answersOf(trial.server, checked, { signal: either }) };
      } catch (error) {
        await trial[Symbol.asyncDispose]();
        throw error;
      }
    };
    const { value: again, refusal } = await startSecondCopy(
      first,
      () => start(unchanged, []),
      either,
    ).catch((error: unknown) => rethrowAsTimeout(error, over));
    await using second = again.trial;
    if (refusal !== undefined) screen.cannotRunTwice(refusal);
    if (refusal !== undefined) await second[Symbol.asyncDispose]();
    const { trial: changed, answers: changedAnswers } = await start(withRedline, preloads).catch(
      (error: unknown) => rethrowAsTimeout(error, over),
    );
    await using _changed = changed;
    requireEngine(changed, target);
    const compared = agree(answers, again.answers) ? 'body' : 'status';
    const toCompare = compared === 'body' ? checked : checked.map(byStatus);
    for (const [at, request] of toCompare.entries()) {
      requireSame(
        request,
        { name: unchanged, answer: again.answers[at]! },
        { name: withRedline, answer: changedAnswers[at]! },
      );
    }
    return {
      requests: compared === 'body' ? requests : requests.map(byStatus),
      why,
      compared: toCompare.every(({ compare }) => compare === 'body') ? 'body' : 'status',
      preloads,
      main,
      isFixed,
      redirecting: isFixed || first.listeners.length > 1 ? (how.main ?? main.asked) : undefined,
      speed,
      pace,
      announcedAt,
      refusal,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A copy of the app, with its responses. */
interface Asked {
  trial: Trial;
  answers: Answer[];
}

/** @throws {LabError} ERR_REDLINE_LOAD if the error was caused by the time limit */
function rethrowAsTimeout(error: unknown, over: AbortSignal | undefined): never {
  if (over?.aborted !== true) throw error;
  throw new LabError(
    'ERR_REDLINE_LOAD',
    'Stopped at twice the time that was announced, before the first measurement: other copies of the app take longer to start and to respond than the first. Stop other work on the machine, or give it more time with --seconds.',
  );
}

/** True if two processes of the same app send the same bytes: they do not if bodies contain times or random ids. */
function agree(one: readonly Answer[], other: readonly Answer[]): boolean {
  return one.every(({ body }, at) => body.equals(other[at]!.body));
}

/**
 * Finds the listener to send requests to. If only a request can tell, sends one `GET /` to each.
 * @throws {LabError} ERR_REDLINE_TRY if it does not speak plain HTTP/1.1
 */
export async function mainOf(trial: Trial, { port }: TryTarget): Promise<Listening> {
  const { main, undecided } = trial.choose(port);
  const chosen =
    undecided.length === 0 ? main! : await askListeners(undecided, (each) => trial.endpoint(each));
  if (chosen.kind === 'http') return chosen;
  const reason = {
    tls: 'the app terminates TLS itself, and that stays with Node. It pays where a proxy does that.',
    http2: 'the app speaks HTTP/2, and that stays with Node. It pays for HTTP/1.1.',
    other: 'the server there does not speak HTTP.',
  };
  throw new LabError('ERR_REDLINE_TRY', `Not for you: ${reason[chosen.kind]}`);
}

/** The requests for an app, and their observed effects. */
export interface Chosen {
  requests: Required<RequestConfig>[];
  /** Set if the requests were found here. */
  why: string | undefined;
  startsChildren: boolean;
}

/** Returns the requests of a target, or of its recording, or the slowest route found in the app. */
export async function chooseAll(
  trial: Trial,
  main: Listening,
  target: TryTarget,
  { screen, signal }: Pick<Preparation, 'screen' | 'signal'>,
): Promise<Chosen> {
  const { plan } = target;
  if (plan.login !== undefined) {
    await signIn(trial.server, plan.login, await trial.endpoint(main));
  }
  const tls = trial.listeners.find(({ kind }) => kind === 'tls')?.asked;
  const { requests, why } = await findRequests(trial, main, target, { screen, signal, tls });
  // Uses the session that the requests may belong to.
  const endpoint = await trial.endpoint(main);
  const before = trial.childrenStarted;
  const asked = distinctRequests(requests).slice(0, maxChecked);
  for (const request of asked) {
    const sent = sendOnceReady(endpoint, request, {
      withinMs: plan.readyTimeoutMs,
      signal,
    });
    const { status, location } = await sent.catch(async (error: Error) => {
      throw await trial.server.failure(`did not answer ${label(request)} (${error.message})`);
    });
    if (status >= 300 && status < 400 && location?.startsWith('https:')) {
      throw new LabError('ERR_REDLINE_TRY', tlsOnlyText(tls));
    }
  }
  // Processes that a timer starts now and then are not the work of a request.
  const startsChildren = trial.childrenStarted - before >= asked.length / 2;
  await requireNoLimit(endpoint, asked, signal);
  return { requests, why, startsChildren };
}

interface Finding extends Pick<Preparation, 'screen' | 'signal'> {
  tls: number | string | undefined;
}

async function findRequests(
  trial: Trial,
  main: Listening,
  target: TryTarget,
  { screen, signal, tls }: Finding,
): Promise<Pick<Chosen, 'requests' | 'why'>> {
  const { plan, hasRequests, isRecorded, record } = target;
  const endpoint = await trial.endpoint(main);
  if (record !== undefined) {
    await using recorder = await Recorder.start(endpoint);
    screen.recording(recorder.url, record.ms);
    await recorder.listen(record.ms, signal);
    const recording = recordingOf(recorder.exchanges, record.allowed);
    screen.recorded(recording);
    const requests = await thatSucceed(endpoint, recording.requests, { screen, signal });
    return { requests, why: `${plural(requests.length, 'request')} of your own.` };
  }
  if (isRecorded) {
    const requests = await thatSucceed(endpoint, plan.requests, { screen, signal });
    return { requests, why: undefined };
  }
  if (hasRequests) return { requests: plan.requests, why: undefined };
  const { headers } = plan.requests[0]!;
  const { readyTimeoutMs } = plan;
  try {
    const { request, why } = await chooseRequest(endpoint, pickRoutes(main.routes), {
      headers,
      readyTimeoutMs,
      ...(tls === undefined ? {} : { tls }),
      signal,
    });
    return { requests: [request], why };
  } catch (error) {
    if (!(error instanceof NoRouteError)) throw error;
    const folder = target.app.cwd;
    const described = await describedRequests(endpoint, { headers, folder, signal });
    if (described === undefined) throw error;
    screen.described(described);
    let session = endpoint;
    if (described.login !== undefined) {
      // Each copy starts its own session.
      plan.login = described.login;
      await signIn(trial.server, plan.login, endpoint);
      session = { ...endpoint, session: trial.server.session };
    }
    const request = await chooseAmong(session, described.requests, signal);
    if (request === undefined) throw error;
    const why = `Of ${plural(described.requests.length, 'reading operation')} that ${described.by} lists, the one that takes longest. Name another with -X and --body.`;
    return { requests: [request], why };
  }
}

/**
 * Drops requests that fail: a recording may refer to data that no longer exists.
 * @throws {LabError} ERR_REDLINE_TRY if none succeeds
 */
async function thatSucceed(
  endpoint: Endpoint,
  recorded: readonly Required<RequestConfig>[],
  { screen, signal }: Pick<Preparation, 'screen' | 'signal'>,
): Promise<Required<RequestConfig>[]> {
  const found = await succeeding(endpoint, distinctRequests(recorded), signal);
  if (found.requests.length === 0) {
    throw new LabError(
      'ERR_REDLINE_TRY',
      `None of the recorded requests succeeds now (${found.refused.slice(0, 4).join(', ')}). If they need a login, add --login.`,
    );
  }
  if (found.refused.length > 0) screen.failing(found.refused);
  return found.requests;
}

/**
 * Detects a rate limit here within a moment instead of in the middle of a measurement.
 * @throws {LabError} ERR_REDLINE_TRY
 */
async function requireNoLimit(
  endpoint: Endpoint,
  requests: readonly Required<RequestConfig>[],
  signal: AbortSignal,
): Promise<void> {
  const until = performance.now() + burstMs;
  for (let sent = 0; sent < burst && performance.now() < until; sent += atATime) {
    signal.throwIfAborted();
    const some = Array.from(
      { length: atATime },
      (_, at) => requests[(sent + at) % requests.length]!,
    );
    const answers = await Promise.all(
      some.map((each) => send(endpoint, each, { signal }).catch(() => undefined)),
    );
    const limited = answers.findIndex((each) => each?.status === 429);
    if (limited < 0) continue;
    throw new LabError(
      'ERR_REDLINE_TRY',
      `${label(some[limited]!)} answers, after ${sent + limited} requests in a row, with ${statusText(answers[limited]!)}.`,
    );
  }
}

function byStatus(request: Required<RequestConfig>): Required<RequestConfig> {
  return { ...request, compare: 'status' };
}

function requireEngine(changed: Trial, { port }: TryTarget): void {
  const reason = changed.main(port)?.leftToNode;
  if (reason === undefined) return;
  throw new LabError(
    'ERR_REDLINE_TRY',
    `Not for you: @redline/http leaves this server to Node, because ${reason}.`,
  );
}
