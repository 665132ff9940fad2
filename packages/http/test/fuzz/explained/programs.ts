import type { Case, Step } from '../case.ts';
import type { Transcript } from '../contestant.ts';

/** What handlers do that a difference comes from. */

/** The programs of the requests that were heard of. */
export function ran({ programs }: Case, { requests }: Transcript): Step[][] {
  return programs.slice(0, requests.length);
}

/** The handler does one, and later the other. */
export function has(steps: readonly Step[], one: Step['do'], other: Step['do']): boolean {
  const at = steps.findIndex((step) => step.do === one);
  return at >= 0 && steps.slice(at).some((step) => step.do === other);
}

/** The step comes behind an end of the response. */
export function behindEnd(steps: readonly Step[], at: number): boolean {
  return steps.slice(0, at).some((step) => step.do === 'end');
}

export function destroys(steps: readonly Step[]): boolean {
  return steps.some((step) => destroying.has(step.do));
}
const destroying = new Set<Step['do']>([
  'destroy',
  'destroyError',
  'requestDestroy',
  'socketDestroy',
  'socketDestroySoon',
]);

export function writesRaw(steps: readonly Step[]): boolean {
  return steps.some((step) => step.do === 'socketWrite');
}

export function endsInError(steps: readonly Step[]): boolean {
  return has(steps, 'end', 'destroyError');
}

/** A call of `end` threw, as with a head that cannot be. */
export function threwAtEnd({ programs }: Case, { requests }: Transcript): boolean {
  return requests.some(({ steps }, at) =>
    (programs[at] ?? []).some(
      (step, index) =>
        step.do === 'end' && steps.some((noted) => noted.startsWith(`step ${index} threw `)),
    ),
  );
}

/** What a handler does before it waits for anything. Handlers of requests that came in one piece do it one behind the other. */
export function atOnce(steps: readonly Step[]): readonly Step[] {
  const waitsAt = steps.findIndex((step) => waits.has(step.do));
  return waitsAt === -1 ? steps : steps.slice(0, waitsAt);
}

/** Without a tick in between. */
export function resumesAndPauses(steps: readonly Step[]): boolean {
  return steps.some((step, at) => {
    if (step.do !== 'socketResume') return false;
    const next = steps.slice(at).find(({ do: what }) => waits.has(what) || what === 'socketPause');
    return next?.do === 'socketPause';
  });
}
const waits = new Set<Step['do']>(['tick', 'immediate', 'timeout', 'readAll']);

export function pauses(steps: readonly Step[]): boolean {
  const last = steps.findLast((step) => step.do === 'socketPause' || step.do === 'socketResume');
  return last?.do === 'socketPause';
}

export function needsDrain(steps: readonly Step[]): boolean {
  return steps.some((step) => step.do === 'write' && step.bytes > 65_536);
}
