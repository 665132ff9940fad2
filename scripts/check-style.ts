// Refuses the turns of phrase in phrases.txt in Markdown and in the strings of the sources, and those of comment-phrases.txt in
// their comments. cspell knows words alone.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

interface Phrase {
  readonly expression: RegExp;
  readonly remedy: string;
}

/** Those of `phrases.txt` have no case; the others begin a sentence, or do not. */
export function phrases(list: 'phrases.txt' | 'comment-phrases.txt' = 'phrases.txt'): Phrase[] {
  return readFileSync(join(import.meta.dirname, list), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const at = line.lastIndexOf(' -> ');
      const flags = list === 'phrases.txt' ? 'i' : '';
      return { expression: new RegExp(line.slice(0, at), flags), remedy: line.slice(at + 4) };
    });
}

/** Every refused phrase of a file, as `file:line: "what it says": what to write`. */
export function findings(file: string, text: string, all: readonly Phrase[]): string[] {
  const prose = file.endsWith('.md') ? withoutCode(text) : stringsOnly(text);
  return found(file, prose.split('\n'), all);
}

/** As `findings`, of the comments of a source file. A phrase that begins with `^` is one at the start of a line. */
export function commentFindings(file: string, text: string, all: readonly Phrase[]): string[] {
  return found(file, commentsOnly(file, text).split('\n'), all);
}

function found(file: string, lines: readonly string[], all: readonly Phrase[]): string[] {
  return lines.flatMap((line, index) =>
    all.flatMap(({ expression, remedy }) => {
      const phrase = expression.exec(line)?.[0];
      return phrase === undefined ? [] : [`${file}:${index + 1}: "${phrase.trim()}": ${remedy}`];
    }),
  );
}

/** The same lines, with code spans, blocks of code and comments blank. */
function withoutCode(text: string): string {
  return text.replaceAll(/^```[^]*?^```|`[^`\n]*`|<!--[^]*?-->/gm, blank);
}

const token =
  /\/\/[^\n]*|\/\*[^]*?\*\/|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|\/(?![/*])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*(?=[),;.\s])/g;

/** The same lines, with all blank but the strings in them. */
function stringsOnly(text: string): string {
  return tokensOnly(text, (each) => /^['"`]/.test(each));
}

/** The same lines, each with what a comment says there, without its marks and its code spans. */
function commentsOnly(file: string, text: string): string {
  const comments = file.endsWith('.rs')
    ? text.replaceAll(/^(?!\s*\/\/).*$/gm, '')
    : tokensOnly(text, (each) => /^\/[/*]/.test(each));
  return comments
    .replaceAll(/^[^\S\n]*(?:\/\/[/!]?|\/\*\*?|\*(?!\/))?[^\S\n]*/gm, '')
    .replaceAll(/`[^`\n]*`/g, blank);
}

function tokensOnly(text: string, isKept: (each: string) => boolean): string {
  let kept = '';
  let end = 0;
  for (const match of text.matchAll(token)) {
    kept += blank(text.slice(end, match.index)) + (isKept(match[0]) ? match[0] : blank(match[0]));
    end = match.index + match[0].length;
  }
  return kept + blank(text.slice(end));
}

function blank(text: string): string {
  return text.replaceAll(/[^\n]/g, ' ');
}

function filesToRead(): string[] {
  const paths = [
    '*.md',
    'packages/*/src/**',
    'crates/*/src/**',
    'packages/*/bin/**',
    'scripts',
    'benchmarks',
    'examples',
  ];
  return execFileSync('git', ['ls-files', ...paths], { cwd: root, encoding: 'utf8' })
    .trim()
    .split('\n')
    .filter((file) => /\.(?:md|[cm]?ts|mjs|rs)$/.test(file) && !file.endsWith('.test.ts'));
}

if (import.meta.main) {
  const inProse = phrases();
  const inComments = phrases('comment-phrases.txt');
  const all = filesToRead().flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return [
      ...(file.endsWith('.rs') ? [] : findings(file, text, inProse)),
      ...(file.endsWith('.md') ? [] : commentFindings(file, text, inComments)),
    ];
  });
  process.stdout.write(all.map((line) => `${line}\n`).join(''));
  process.exitCode = all.length === 0 ? 0 : 1;
}
