import { leastWaitMs, msText } from '../../calls-out/report/call-words.ts';
import type { Interval } from '../../figures.ts';
import { profiledText } from '../../profile/profiled-thread.ts';
import { columnDecimals, fixed, percent, plural, range } from '../../report/format.ts';
import type { Cost, DoctorResult, Finding, Proof, Waits } from '../result.ts';

/** Longer times are shown in milliseconds. */
const longMicros = 1_000;

/** Formats `82 µs`, `14.2 ms`, or the reason for a missing cost. */
export function costText({ cost, waits, isOnMeasuredPath }: Finding): string {
  if (waits !== undefined) return waitsText(waits, cost);
  if (cost !== undefined) return timeText(cost);
  if (isOnMeasuredPath === undefined) return '';
  return isOnMeasuredPath ? 'not sampled' : 'not on a measured path';
}

/** Formats `waits 1.6 ms, 62 µs`: the wait is shown beside the CPU that the profile has of it. */
function waitsText({ ms, cpuMs }: Waits, cost: Cost | undefined): string {
  const cpu = cost === undefined ? `${msText(cpuMs)} of CPU` : timeText(cost);
  return ms < leastWaitMs ? cpu : `waits ${msText(ms)}, ${cpu}`;
}

function timeText({ microsPerRequest: micros }: Cost): string {
  if (micros >= longMicros) return `${fixed(micros / 1_000, micros < 10_000 ? 1 : 0)}\u00a0ms`;
  return `${fixed(micros, micros < 10 ? 1 : 0)}\u00a0µs`;
}

/** Formats a share; all shares have the same base, which the report's header names. */
export function shareText({ cost }: Finding, measured: DoctorResult['measured']): string {
  return cost === undefined ? '' : `${percent(cost.share)} of the ${threadOf(measured)}`;
}

function threadOf(measured: DoctorResult['measured']): string {
  return measured?.profiled?.kind === 'worker thread' ? 'worker thread' : 'main thread';
}

/** Lists the parts of the request on which the responses of each cached route depend, one line per route. */
export function cachedRouteTexts({ measured }: DoctorResult): string[] {
  return (measured?.cachedRoutes ?? []).map(({ route, reads }) => {
    const what = reads.length === 0 ? 'nothing but the URL and the host, so far' : reads.join('; ');
    return `${route}: ${what}`;
  });
}

/** Describes the proved gain of a change in one sentence. */
export function proofText({ word, cpu, rps, responseMs, why }: Proof): string {
  const figures = [
    ...(cpu === undefined ? [] : [`${times(cpu)} less CPU per request`]),
    ...(rps === undefined ? [] : [`${times(rps)} the requests per second`]),
    ...(responseMs === undefined
      ? []
      : [`a response takes ${msText(responseMs.after)} instead of ${msText(responseMs.before)}`]),
  ].join(', ');
  switch (word) {
    case 'gains':
      return `Proved: ${figures}.`;
    case 'nothing':
      return `Dropped, it gains nothing here: ${figures}.`;
    case 'loses':
      return `Dropped, it loses: ${figures}.`;
    case 'unresolved':
      return `Not shown to gain: ${figures}. More time with --each can tell.`;
    case 'withheld':
      return 'Not measured: the app differed from itself. Stop other work on the machine and try again.';
    case 'fails':
      return `Dropped, it fails: ${why}`;
  }
}

export function togetherText({ together }: DoctorResult): string | undefined {
  if (together === undefined) return undefined;
  const { changes, areFixed, imports = [], ...proof } = together;
  const what = changes === 1 ? 'The change that gains' : `${changes} changes that gain, together`;
  const [they, them] = changes === 1 ? ['It is', 'it'] : ['They are', 'them'];
  const kept = areFixed
    ? ` ${they} made in your tree; nothing is committed.`
    : proof.word === 'gains'
      ? ` --fix makes ${them} in your tree.`
      : '';
  const byHand =
    imports.length > 0 && proof.word === 'gains'
      ? ` Start it with ${imports.map((name) => `--import ${name}/register`).join(' ')} yourself.`
      : '';
  return `${what}: ${proofText(proof)}${kept}${byHand}`;
}

function times(interval: Interval): string {
  const decimals = columnDecimals([interval], 2);
  return `${fixed(interval.value, decimals)}\u00a0× ${range(interval, decimals)}`;
}

export function placeOf({ file, line, column }: Finding): string {
  return `${file}:${line}:${column}`;
}

/** Describes in sentences what was examined. */
export function circumstances({ app, measured }: DoctorResult): string[] {
  const read = readText(app);
  const framework = app.framework === undefined ? '' : `${app.framework} · `;
  if (measured === undefined) {
    return [
      `${framework}${read}. The code alone: with -- COMMAND, what each finding costs is measured.`,
    ];
  }
  const { request, requests, seconds, microsPerRequest, blockedMs, node, requestFrom } = measured;
  const { threadMicrosPerRequest, profiled } = measured;
  return [
    `${framework}Node ${node} · ${read}.`,
    `${request}: ${fixed(requests)} requests in ${fixed(seconds, 1)} s, ${microsText(microsPerRequest)} of CPU each; the event loop was blocked for ${fixed(blockedMs.p99, 1)} ms at p99, ${fixed(blockedMs.longest, 1)} ms at most.`,
    `The ${threadOf(measured)} was busy for ${microsText(threadMicrosPerRequest)} of each request: shares are of this time.`,
    ...(profiled === undefined ? [] : [`Profiled: ${profiledText(profiled)}.`]),
    ...(requestFrom === '' ? [] : [requestFrom]),
  ];
}

function microsText(micros: number): string {
  return `${fixed(micros, micros < 100 ? 1 : 0)} µs`;
}

/** States what was examined if nothing was found. */
export function nothingText({ app }: DoctorResult): string | undefined {
  return app.files === 0 ? undefined : 'Nothing that these rules look for was found.';
}

function readText({ files, entry }: DoctorResult['app']): string {
  if (files > 0)
    return `${plural(files, 'file')} of code read${entry === undefined ? '' : `, from ${entry}`}`;
  return 'No code was read: the file that starts the app was not found, and the folder holds no source. Give its command, as in redline doctor -- node dist/main.js, or its folder with --cwd';
}

export function countText({ app, findings }: DoctorResult): string {
  const counts = (['certain', 'likely', 'hint'] as const).flatMap((sure) => {
    const count = findings.filter((each) => each.sure === sure).length;
    return count === 0 ? [] : [`${fixed(count)} ${sure}`];
  });
  if (counts.length > 0) return counts.join(', ');
  return app.files === 0 ? 'no code found' : 'nothing found';
}

/** Explains the column of microseconds. */
export const costNote =
  'Cost: time of the profiled thread for each request now, as sampled under this load: of the call with what it calls, of the packages concerned, or of the function. What a change gains, only measuring it shows.';
