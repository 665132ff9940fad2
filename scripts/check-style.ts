// Refuses the turns of phrase in phrases.txt, in Markdown and in the strings of the sources. cspell knows words alone.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');

interface Phrase {
  readonly expression: RegExp;
  readonly remedy: string;
}

export function phrases(): Phrase[] {
  return readFileSync(join(import.meta.dirname, 'phrases.txt'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const at = line.lastIndexOf(' -> ');
      return { expression: new RegExp(line.slice(0, at), 'i'), remedy: line.slice(at + 4) };
    });
}

/** Every refused phrase of a file, as `file:line: "what it says": what to write`. */
export function findings(file: string, text: string, all: readonly Phrase[]): string[] {
  const prose = file.endsWith('.md') ? withoutCode(text) : stringsOnly(text);
  return prose.split('\n').flatMap((line, index) =>
    all.flatMap(({ expression, remedy }) => {
      const found = expression.exec(line)?.[0];
      return found === undefined ? [] : [`${file}:${index + 1}: "${found.trim()}": ${remedy}`];
    }),
  );
}

/** The same lines, with code spans, blocks of code and comments blank. */
function withoutCode(text: string): string {
  return text.replaceAll(/^```[^]*?^```|`[^`\n]*`|<!--[^]*?-->/gm, blank);
}

/** The same lines, with all blank but the strings in them. */
function stringsOnly(text: string): string {
  const token =
    /\/\/[^\n]*|\/\*[^]*?\*\/|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|\/(?![/*])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*(?=[),;.\s])/g;
  let kept = '';
  let end = 0;
  for (const match of text.matchAll(token)) {
    const isString = /^['"`]/.test(match[0]);
    kept += blank(text.slice(end, match.index)) + (isString ? match[0] : blank(match[0]));
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
    'packages/*/bin/**',
    'scripts',
    'benchmarks',
    'examples',
  ];
  return execFileSync('git', ['ls-files', ...paths], { cwd: root, encoding: 'utf8' })
    .trim()
    .split('\n')
    .filter((file) => /\.(?:md|[cm]?ts|mjs)$/.test(file) && !file.endsWith('.test.ts'));
}

if (import.meta.main) {
  const all = phrases();
  const found = filesToRead().flatMap((file) =>
    findings(file, readFileSync(join(root, file), 'utf8'), all),
  );
  process.stdout.write(found.map((line) => `${line}\n`).join(''));
  process.exitCode = found.length === 0 ? 0 : 1;
}
