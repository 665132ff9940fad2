import type { Case } from './case.ts';

/** Smaller versions of a case, those that leave out most first. */
export function* smaller(of: Case): Generator<Case> {
  const requests = of.bytes.split(/(?=(?:GET|HEAD|POST|DELETE) \/)/);
  for (let i = requests.length - 1; i >= 0 && requests.length > 1; i--) {
    const programs = of.programs.toSpliced(i, 1);
    yield { ...of, bytes: requests.toSpliced(i, 1).join(''), cuts: [], programs };
  }
  for (const [at, program] of of.programs.entries()) {
    for (let i = 0; i < program.length; i++) {
      yield { ...of, programs: of.programs.with(at, program.toSpliced(i, 1)) };
    }
    for (const [i, step] of program.entries()) {
      if ((step.do === 'write' || step.do === 'end') && step.bytes > 1) {
        yield { ...of, programs: of.programs.with(at, program.with(i, { ...step, bytes: 1 })) };
      }
    }
  }
  for (let i = 0; i < of.cuts.length; i++) yield { ...of, cuts: of.cuts.toSpliced(i, 1) };
  if (of.ending !== 'wait') yield { ...of, ending: 'wait' };
  if (of.programs.length > 0) return;
  for (let size = of.bytes.length >> 1; size >= 1; size >>= 1) {
    for (let at = 0; at < of.bytes.length; at += size) {
      const bytes = of.bytes.slice(0, at) + of.bytes.slice(at + size);
      if (bytes !== '') yield { ...of, bytes, cuts: of.cuts.filter((cut) => cut < bytes.length) };
    }
  }
}

/** The smallest that still fails, within so many tries. */
export async function shrink(
  of: Case,
  fails: (smaller: Case) => Promise<boolean>,
  mostTries: number,
): Promise<Case> {
  let tries = 0;
  let best = of;
  search: while (true) {
    for (const candidate of smaller(best)) {
      if (++tries > mostTries) return best;
      if (!(await fails(candidate))) continue;
      best = candidate;
      continue search;
    }
    return best;
  }
}
