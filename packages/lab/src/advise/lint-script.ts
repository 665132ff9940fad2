import { readFileSync } from 'node:fs';
import nodeModule, { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import plugin from '@redline/eslint-plugin';
import type { Linter, Rule } from 'eslint';
import { LabError } from '../errors.ts';

/** Max characters of code in a report: enough to recognise it, not to read it. */
const maxCodeLength = 160;

/** Offsets from the start of the file; `end` is exclusive. */
export interface Range {
  start: number;
  end: number;
}

export interface Hit extends Range {
  rule: string;
  /** From 1. */
  line: number;
  column: number;
  /** The line of the hit; a hit of several lines is joined into one. */
  code: string;
  /** The replacement, and whether it is safe to apply unseen. */
  rewrite?: { text: string; isSafe: boolean; start: number; end: number };
}

export interface LintedScript {
  hits: Hit[];
  functions: Range[];
  /** Returns the offset of a line (from 1) and column (from 1). */
  offsetOf(line: number, column: number): number;
}

/**
 * Loads the ESLint of the advised project. Nothing else in the lab needs it, so it is not a dependency of the lab.
 * @throws {LabError} ERR_REDLINE_OPTION when it is not installed
 */
export function findLinter(): typeof Linter {
  try {
    return (createRequire(import.meta.url)('eslint') as { Linter: typeof Linter }).Linter;
  } catch (cause) {
    throw new LabError(
      'ERR_REDLINE_OPTION',
      'redline advise reads code with ESLint 9 or newer, which is not installed: npm install --save-dev eslint',
      { cause },
    );
  }
}

/** @throws {Error} when the file does not exist or cannot be parsed */
export function lintScript(url: string): LintedScript {
  const file = url.startsWith('file://') ? fileURLToPath(url) : url;
  const text = readCode(file);
  let { messages, functions } = verify(text, 'module');
  // Old code is not a module: `delete name`, `with`, octal numbers.
  if (messages.some((message) => message.fatal)) {
    ({ messages, functions } = verify(text, 'script'));
  }
  const fatal = messages.find((message) => message.fatal);
  if (fatal) throw new Error(`line ${fatal.line}: ${fatal.message}`);
  const lines = text.split('\n');
  const starts = [0];
  for (const line of lines) starts.push(starts.at(-1)! + line.length + 1);
  const offsetOf = (line: number, column: number): number => (starts[line - 1] ?? 0) + column - 1;
  return {
    functions,
    offsetOf,
    hits: messages.map((message) => {
      const { line, column, endLine = line, endColumn = column } = message;
      const fix = message.fix ?? message.suggestions?.[0]?.fix;
      return {
        rule: message.ruleId!.replace('@redline/', ''),
        line,
        column,
        start: offsetOf(line, column),
        end: offsetOf(endLine, endColumn),
        code: codeOf(lines, line, text.slice(offsetOf(line, column), offsetOf(endLine, endColumn))),
        ...(fix && {
          rewrite: {
            text: fix.text,
            isSafe: message.fix !== undefined,
            start: fix.range[0],
            end: fix.range[1],
          },
        }),
      };
    }),
  };
}

function verify(
  text: string,
  sourceType: 'module' | 'script',
): { messages: Linter.LintMessage[]; functions: Range[] } {
  const functions: Range[] = [];
  const collect: Rule.RuleModule = {
    create: () => ({
      ':function': (node: Rule.Node) => {
        functions.push({ start: node.range![0], end: node.range![1] });
      },
    }),
  };
  const messages = new (findLinter())().verify(
    text,
    [
      plugin.configs.all,
      {
        files: ['**'],
        plugins: { lab: { rules: { collect } } },
        rules: { 'lab/collect': 'error' },
        languageOptions: { sourceType, ecmaVersion: 'latest' },
        linterOptions: { noInlineConfig: true, reportUnusedDisableDirectives: 'off' },
      },
    ],
    { filename: 'script.js' },
  );
  return { messages, functions };
}

function codeOf(lines: readonly string[], line: number, found: string): string {
  if (!found.includes('\n')) return lines[line - 1]!.trim();
  const flat = found.replaceAll(/\s+/g, ' ');
  return flat.length > maxCodeLength ? `${flat.slice(0, maxCodeLength)}…` : flat;
}

/** Replaces types with blanks, so that positions stay as V8 reports them. */
function readCode(file: string): string {
  const text = readFileSync(file, 'utf8').replace(/^#!/, '//');
  if (!/\.[mc]?ts$/.test(file)) return text;
  // Missing before Node 22.13, but those versions cannot have run such a file.
  return nodeModule.stripTypeScriptTypes(text);
}
