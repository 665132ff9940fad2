import { sourceOfRegExp } from '../../profile/reg-exp-names.ts';
import { percent } from '../../report/format.ts';

/** A builtin of V8 with much of the time of a function or a package, or a regular expression. */
export interface MainBuiltin {
  name: string;
  /** Source of a regular expression. */
  source: string | undefined;
  /** `97 % of it in the regular expression /^(\w+\s?)*$/` */
  text: string;
}

/** A builtin with at least this share of the time is its cause. */
const mainShare = 0.4;
const maxSource = 80;

/** @param builtins Samples by the name of the frame, of `samples` in all. */
export function mainBuiltin(
  builtins: ReadonlyMap<string, number>,
  samples: number,
): MainBuiltin | undefined {
  const [name, own] = [...builtins].toSorted(([, a], [, b]) => b - a)[0] ?? ['', 0];
  if (own === 0 || own < samples * mainShare) return undefined;
  const source = sourceOfRegExp(name);
  const shown =
    source !== undefined && source.length > maxSource ? `${source.slice(0, maxSource)}…` : source;
  const what = shown === undefined ? name : `the regular expression /${shown}/`;
  return { name, source, text: `${percent(own / samples)} of it in ${what}` };
}
