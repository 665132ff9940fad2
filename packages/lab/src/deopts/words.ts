import { plural } from '../report/format.ts';
import type { DeoptFunction, DeoptSite, DeoptsResult } from './result.ts';

const mostShown = 12;

/** Of functions nobody waits for, those that keep on deoptimising still say something. */
function matters({ own, isLoop, isStillGoing, owner }: DeoptFunction): boolean {
  return own === undefined || own >= 0.001 || isLoop || isStillGoing || owner === 'app';
}

export function shown(result: DeoptsResult, all: boolean): DeoptFunction[] {
  return all ? result.functions : result.functions.filter(matters).slice(0, mostShown);
}

/** What is not in the list, in one sentence. */
export function untold({ functions, benign }: DeoptsResult, count: number): string {
  const rest = functions.length - count;
  const parts = [
    ...(rest > 0 ? [`${plural(rest, 'function')} with little time of their own`] : []),
    ...(benign > 0 ? [`${plural(benign, 'deopt')} that are part of how V8 works`] : []),
  ];
  if (parts.length === 0) return '';
  return `Not shown: ${parts.join(' and ')}${rest > 0 ? '; --all shows the functions' : ''}.`;
}

/** Whether a place is done with. */
export function statusOf(each: DeoptFunction, site: DeoptSite): string {
  const pattern = site.times >= 3 ? 'loop' : site.times === 2 ? 'twice' : 'one-off';
  return each.isStillGoing ? `${pattern}, still deoptimising` : `${pattern}, settled`;
}
