import { readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { findAdvice } from '../../advise/find-advice.ts';
import { knownEvidence } from '../../advise/known-evidence.ts';
import { findLinter } from '../../advise/lint-script.ts';
import type { Advice } from '../../advise/result.ts';
import type { CallTree } from '../../profile/call-tree.ts';
import type { SourceMaps } from '../../profile/source-maps.ts';
import { majorOfVersion } from '../../prove/runtime-version.ts';
import { fixed } from '../../report/format.ts';
import { diffOf, type Edit } from '../edits.ts';
import type { Candidate } from '../examine.ts';
import type { Finding } from '../result.ts';
import type { SeenCall } from './blocked.ts';

/**
 * Runs the rules of @redline/eslint-plugin on functions that the profile found hot; returns a warning if ESLint is not installed.
 */
export async function adviceIn(
  tree: CallTree,
  options: {
    isCompiledOnLoad: boolean;
    node: string;
    maps: SourceMaps;
    folder: string;
    evidence: string;
  },
): Promise<{ found: SeenCall[]; warnings: string[] }> {
  if (options.isCompiledOnLoad) {
    const text =
      'The rules for hot functions were left out: code that is compiled as it is loaded has other lines in a profile. Build it and start what was built.';
    return { found: [], warnings: [text] };
  }
  try {
    findLinter();
  } catch {
    const text =
      'The rules for hot functions need ESLint 9 or newer, which is not installed: npm install --save-dev eslint';
    return { found: [], warnings: [text] };
  }
  const { advice } = findAdvice(tree, {
    major: majorOfVersion(options.node),
    evidence: await knownEvidence(options.evidence),
    files: [],
    maps: options.maps,
    folder: options.folder,
  });
  // A package linked into node_modules lies elsewhere, and is not the app's code.
  const own = advice.filter(
    ({ file, rule }) => !file.startsWith('..') && !isAbsolute(file) && rule !== ownRule,
  );
  return {
    warnings: [],
    found: own.map((each) => ({
      samples: each.share * tree.samples,
      ...candidateOf(each, options.folder),
    })),
  };
}

/** The doctor's own rule for the same expressions follows requests across files. */
const ownRule = 'no-super-linear-regexp';

function candidateOf(advice: Advice, folder: string): Candidate {
  const { rule, text, file, line, column, function: name, code, gain, changesResult } = advice;
  const edits = editsOf(advice, folder);
  const finding: Finding = {
    rule,
    title: text,
    file,
    line,
    column,
    excerpt: code,
    sure: 'likely',
    why: `In ${name || 'a function'}, whose time is shown. The other form of this piece alone is ${fixed(gain.value, 1)} × as fast on Node ${gain.node}.`,
    how:
      changesResult === undefined
        ? `redline prove ${rule} shows both forms and measures them here.`
        : `It changes results: ${changesResult}. redline prove ${rule} shows both forms.`,
    diff: diffOf(edits),
    isOnMeasuredPath: true,
  };
  return { finding, edits };
}

/** Skips TypeScript: its types are blanked before the rules run, so a rewrite would lose them. */
function editsOf({ file, rewrite }: Advice, folder: string): Edit[] {
  if (rewrite?.at === undefined || !/\.[mc]?js$/.test(file)) return [];
  const path = join(folder, file);
  const text = readFileSync(path, 'utf8');
  return [{ file: { path, name: file, text }, ...rewrite.at, text: rewrite.text }];
}
