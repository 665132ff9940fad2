/** A function of a Rust file in rustfmt's format. */
export interface RustFunction {
  readonly name: string;
  /** Line of its `fn`, starting at 1. */
  readonly line: number;
  /** Number of lines from there to its closing brace; 0 for a declaration. */
  readonly lines: number;
  /** Number of parameters without `self`. */
  readonly parameters: number;
}

export function rustFunctions(source: string): RustFunction[] {
  const text = withoutLiterals(source);
  return [...text.matchAll(/\bfn (\w+)/g)].map(({ 0: start, 1: name, index }) => {
    const opening = text.indexOf('(', pastGenerics(text, index + start.length));
    const closing = pairOf(text, opening);
    const line = lineAt(text, index);
    const body = text.slice(closing).search(/[{;]/) + closing;
    return {
      name: name!,
      line,
      lines: text[body] === '{' ? lineAt(text, pairOf(text, body)) - line + 1 : 0,
      parameters: parametersIn(text.slice(opening + 1, closing)),
    };
  });
}

/** Returns the same text with spaces in place of comments, strings and characters. */
function withoutLiterals(text: string): string {
  const literal =
    /\/\/[^\n]*|\/\*[^]*?\*\/|b?r(#+)"[^]*?"\1|b?"(?:[^"\\]|\\[^])*"|b?'(?:[^'\\\n]|\\[^']+|\\')'/g;
  return text.replaceAll(literal, (found) => found.replaceAll(/[^\n]/g, ' '));
}

function pastGenerics(text: string, from: number): number {
  return text[from] === '<' ? pairOf(text, from) : from;
}

const pairs: Record<string, string> = { '(': ')', '{': '}', '<': '>' };

/** Returns the position of the bracket that closes the one at `from`. The `>` of an arrow is skipped. */
function pairOf(text: string, from: number): number {
  const opening = text[from]!;
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    if (text[at] === opening) depth++;
    else if (text[at] === pairs[opening] && text[at - 1] !== '-' && --depth === 0) return at;
  }
  return text.length;
}

/** Counts parameters other than `self`. */
function parametersIn(list: string): number {
  let depth = 0;
  const separated = list.replaceAll(/->|[(<[{]|[)>\]}]|,/g, (mark) => {
    if (mark === ',') return depth === 0 ? '\0' : mark;
    if (mark !== '->') depth += '(<[{'.includes(mark) ? 1 : -1;
    return mark;
  });
  return separated
    .split('\0')
    .map((each) => each.trim())
    .filter((each) => each !== '' && !/^&?(?:'\w+ )?(?:mut )?self\b/.test(each)).length;
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}
