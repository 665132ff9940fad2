import { plural } from '../report/format.ts';
import type { DeoptFunction, DeoptSite, DeoptsResult } from './result.ts';

/** Max functions shown of packages, Node's own code and V8. */
const maxOthers = 10;

/** Returns true for functions that take time, and for others if they keep on deoptimising. */
function matters({ own, isLoop, isStillGoing }: DeoptFunction): boolean {
  return own === undefined || own >= 0.001 || isLoop || isStillGoing;
}

/** Returns all of the app's own functions, which can be changed here, and of the others those that matter. */
export function shown({ functions }: DeoptsResult, all: boolean): DeoptFunction[] {
  if (all) return functions;
  const others = functions.filter((each) => each.owner !== 'app' && matters(each));
  const kept = new Set(others.slice(0, maxOthers));
  return functions.filter((each) => each.owner === 'app' || kept.has(each));
}

/** Names what the list leaves out, in one sentence. */
export function leftOutText({ functions, benign }: DeoptsResult, count: number): string {
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

/** Returns the pattern of a place, and its state: settled, or still deoptimising. */
export function statusOf(each: DeoptFunction, site: DeoptSite): string {
  const pattern = site.times >= 3 ? 'loop' : site.times === 2 ? 'twice' : 'one-off';
  return each.isStillGoing ? `${pattern}, still deoptimising` : `${pattern}, settled`;
}
