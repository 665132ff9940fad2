import { attackText, type Danger, dangerOf } from '@redline/eslint-plugin';
import { regExpName } from '../../../profile/reg-exp-names.ts';
import type { Sure } from '../../result.ts';
import { enclosingFunction, type Node } from '../../syntax/node.ts';
import type { RequestPath } from '../../syntax/request-path.ts';
import type { SourceFile } from '../../syntax/source-file.ts';
import { type Match, matchesIn } from './matches.ts';
import { originOfText } from './origin-of-text.ts';
import type { Rule } from '../rule.ts';

const maxSource = 120;

export const superLinearRegexp: Rule = {
  id: 'super-linear-regexp',
  title: 'a regular expression that a text can hold for long',
  *look({ sources, modules, requests }) {
    const judged = new Map<string, Danger | undefined>();
    for (const file of sources) {
      for (const match of matchesIn(file, modules)) {
        const { source, flags, node } = match;
        const found = matchedOn(file, match, requests);
        if (found === undefined) continue;
        const key = `/${source}/${flags}`;
        if (!judged.has(key)) judged.set(key, dangerOf(source, flags));
        const danger = judged.get(key);
        // The length that is enough against a polynomial is not against an exponential.
        if (danger === undefined || (danger.growth === 'polynomial' && isLimited(file, match)))
          continue;
        yield {
          file,
          start: node.start,
          end: node.end,
          sure: danger.bySearching ? 'hint' : found.sure,
          why: `${shortened(key)} takes ${danger.growth} time on ${attackText(danger)}. It is matched against ${found.text}, and no other request is served meanwhile.`,
          how: howTo(danger),
          ...(match.text === undefined ? {} : { seen: { calls: [regExpName(source)] } }),
        };
      }
    }
  },
};

function matchedOn(
  file: SourceFile,
  { node, text }: Match,
  requests: RequestPath,
): { sure: Sure; text: string } | undefined {
  if (text === undefined) return { sure: 'likely', text: 'what a schema validates' };
  const reach = requests.reachOf(node);
  const origin = reach && originOfText(file, text);
  if (reach === undefined || origin === undefined) return undefined;
  return origin === 'request'
    ? { sure: reach, text: 'a part of the request' }
    : { sure: 'likely', text: 'a parameter of a function that requests run through' };
}

function howTo({ growth, bySearching }: Danger): string {
  if (bySearching)
    return 'Limit the length of the text before it, or anchor the expression: it is tried from each start in the text.';
  const rewrite =
    'rewrite it so that a text has one way to match, with no repetition inside of a repetition';
  return growth === 'exponential'
    ? `Use RE2 (package re2), or ${rewrite}; a limit of length helps only below some 20 characters.`
    : `Limit the length of the text before it, ${rewrite}, or use RE2 (package re2).`;
}

/** True if the function compares `text.length`, or the text is cut by `slice(0, 100)`. */
function isLimited(file: SourceFile, { node, text }: Match): boolean {
  if (text === undefined) return false;
  const written = file.textOf(text);
  if (/\.(?:slice|substring)\(\d+, *\d+\)$/.test(written)) return true;
  const own: Node = enclosingFunction(node) ?? file.program;
  const measured = file.textOf(own).split(`${written}.length`).slice(1);
  return measured.some((after) => /^\s*(?:[<>]=?|===)/.test(after));
}

function shortened(text: string): string {
  return text.length > maxSource ? `${text.slice(0, maxSource)}…` : text;
}
