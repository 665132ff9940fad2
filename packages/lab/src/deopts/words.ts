import { plural } from '../report/format.ts';
import type { DeoptFunction, DeoptSite, DeoptsResult } from './result.ts';

/** Of packages, Node's own code and V8. */
const mostOfOthers = 10;

/** Of functions nobody waits for, those that keep on deoptimising still say something. */
function matters({ own, isLoop, isStillGoing }: DeoptFunction): boolean {
  return own === undefined || own >= 0.001 || isLoop || isStillGoing;
}

/** All of the app's own, for those can be mended here; of the others what matters. */
export function shown({ functions }: DeoptsResult, all: boolean): DeoptFunction[] {
  if (all) return functions;
  const others = functions.filter((each) => each.owner !== 'app' && matters(each));
  const kept = new Set(others.slice(0, mostOfOthers));
  return functions.filter((each) => each.owner === 'app' || kept.has(each));
}

/** What is not in the list, in one sentence. */
export function untold({ functions, benign }: DeoptsResult, count: number): string {
  const rest = functions.length - count;
  const parts = [
    ...(rest > 0
      ? [`${plural(rest, 'function')} of packages, Node and V8 with less time of their own`]
      : []),
    ...(benign > 0 ? [`${plural(benign, 'deopt')} that are a normal part of how V8 works`] : []),
  ];
  if (parts.length === 0) return '';
  return `Not shown: ${parts.join(' and ')}${rest > 0 ? '; --all shows the functions' : ''}.`;
}

/** Whether a place is done with. */
export function statusOf(each: DeoptFunction, site: DeoptSite): string {
  const pattern = site.times >= 3 ? 'loop' : site.times === 2 ? 'twice' : 'one-off';
  return each.isStillGoing ? `${pattern}, still deoptimising` : `${pattern}, settled`;
}
