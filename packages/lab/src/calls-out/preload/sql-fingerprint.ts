export type SqlDialect = 'PostgreSQL' | 'MySQL' | 'SQLite';

/** Longer texts are cut. */
const maxLength = 1_000;

const besideValues = /^(,|-|\+|null|true|false|default|::)$/i;

/** Stands for a list of values in parentheses. */
const folded = '(…)';

/**
 * Returns a statement without what it is about: comments are dropped, literals and parameters become `$1` or `?`, and lists of them
 * one mark. A text that does not end where its quotes would is a literal up to its end.
 */
export function sqlFingerprint(sql: string, dialect: SqlDialect): string {
  const tokens = foldLists(tokensOf(sql, dialect));
  const text = joined(dialect === 'PostgreSQL' ? numbered(tokens) : tokens);
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}

interface Token {
  text: string;
  /** A parameter or literal. */
  isValue: boolean;
  /** Set if white space or a comment precedes it. */
  isApart: boolean;
}

/** Parts of SQL in the order in which they are tried. Each matches from the current position only. */
const parts = {
  prefixedString: /(?:[bBxXnN]|[uU]&|_\w+\s*)?'(?:[^']|'')*(?:'|$)/y,
  parameter: /\$\d+|\?\d*(?![|&?])|[:@$][A-Za-z_]\w*/y,
  /** All that follows a digit without a space, as `0xDEAD_BEEF` and `1e-5`. */
  number: /\.?\d[\w.]*(?:(?<=[eE])[+-]\d+)?/y,
  word: /[\p{L}_][\p{L}\p{N}_$]*/uy,
  operator: /::|->>?|#>>?|<=>?|>=|<>|!=|\|\||&&|@>|<@|\?[|&]?|[^]/uy,
} as const;

const blockComment = /\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$)/y;

interface DialectParts {
  space: readonly RegExp[];
  strings: readonly RegExp[];
  names: RegExp;
  /** A name without its end. */
  unterminated: RegExp;
}

/** Parts in which systems differ. */
const dialects: Record<SqlDialect, DialectParts> = {
  PostgreSQL: {
    space: [/\s+|--[^\n\r]*/y],
    strings: [
      /\$([\p{L}_\u{80}-\u{10ffff}][\p{L}\p{N}_\u{80}-\u{10ffff}]*)?\$[^]*?(?:\$\1\$|$)/uy,
      // The string goes on in the next line, with its escapes.
      /[eE]'(?:[^'\\]|\\[^]|'')*(?:'|$)(?:(?:\s|--[^\n\r]*[\n\r])+'(?:[^'\\]|\\[^]|'')*(?:'|$))*/y,
      parts.prefixedString,
    ],
    names: /"(?:[^"]|"")*"/y,
    unterminated: /"[^]*/y,
  },
  MySQL: {
    space: [/\s+|--(?=\s|$)[^\n]*|#[^\n]*/y, blockComment],
    strings: [
      /(?:[bBxXnN]|_\w+\s*)?(?:'(?:[^'\\]|\\[^]|'')*(?:'|$)|"(?:[^"\\]|\\[^]|"")*(?:"|$))/y,
    ],
    names: /`(?:[^`]|``)*`/y,
    unterminated: /`[^]*/y,
  },
  SQLite: {
    space: [/\s+|--[^\n]*/y, blockComment],
    strings: [parts.prefixedString],
    names: /"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]/y,
    unterminated: /["`[][^]*/y,
  },
};

type Take = (...of: readonly RegExp[]) => string | undefined;

function tokensOf(sql: string, dialect: SqlDialect): Token[] {
  const tokens: Token[] = [];
  let isApart = false;
  for (let at = 0; at < sql.length;) {
    const take: Take = (...of) => {
      for (const part of of) {
        part.lastIndex = at;
        const found = part.exec(sql)?.[0];
        if (found !== undefined) return found;
      }
      return undefined;
    };
    const space =
      take(...dialects[dialect].space) ??
      (dialect === 'PostgreSQL' ? nestedComment(sql, at) : undefined);
    if (space !== undefined) {
      at += space.length;
      isApart = true;
      continue;
    }
    const found = tokenAt(take, dialect, tokens);
    // As in `date'2020-01-01'`.
    isApart ||= found.isValue && /[\p{L}\p{N}_]$/u.test(tokens.at(-1)?.text ?? '');
    tokens.push({ text: found.text, isValue: found.isValue, isApart });
    if (dialect === 'MySQL' && hasEscapedQuote(found.source)) {
      tokens.push({ text: '…', isValue: false, isApart: false });
      return tokens;
    }
    at += found.source.length;
    isApart = false;
  }
  return tokens.at(-1)?.text === ';' ? tokens.slice(0, -1) : tokens;
}

/** Comments of PostgreSQL have comments. */
function nestedComment(sql: string, start: number): string | undefined {
  if (!sql.startsWith('/*', start)) return undefined;
  const marks = /\/\*|\*\//g;
  marks.lastIndex = start;
  let depth = 0;
  for (let mark = marks.exec(sql); mark !== null; mark = marks.exec(sql)) {
    depth += mark[0] === '/*' ? 1 : -1;
    if (depth === 0) return sql.slice(start, marks.lastIndex);
  }
  return sql.slice(start);
}

/** True for `'C:\' …'`, whose end depends on the mode of the server: with NO_BACKSLASH_ESCAPES it is the first of these quotes. */
function hasEscapedQuote(literal: string): boolean {
  const [quote] = /^\w*\s*['"]/.exec(literal) ?? [];
  return quote !== undefined && literal.replaceAll('\\\\', '').includes(`\\${quote.at(-1)}`);
}

function tokenAt(
  take: Take,
  dialect: SqlDialect,
  before: readonly Token[],
): { text: string; source: string; isValue: boolean } {
  const { strings, names, unterminated } = dialects[dialect];
  const literal = take(...strings);
  if (literal !== undefined) return { text: '?', source: literal, isValue: true };
  const name = take(names);
  if (name !== undefined) return { text: name, source: name, isValue: false };
  const parameter = parameterAt(take, dialect, before);
  if (parameter !== undefined) {
    const text = dialect === 'PostgreSQL' ? parameter : '?';
    return { text, source: parameter, isValue: true };
  }
  const value = take(unterminated, parts.number);
  if (value !== undefined) return { text: '?', source: value, isValue: true };
  const other = take(parts.word, parts.operator)!;
  return { text: other, source: other, isValue: false };
}

/** In PostgreSQL, `?` is an operator of jsonb, and `:name` or `@name` are none of its parameters. */
function parameterAt(
  take: Take,
  dialect: SqlDialect,
  before: readonly Token[],
): string | undefined {
  const found = take(parts.parameter);
  if (found === undefined) return undefined;
  if (dialect === 'PostgreSQL') return /^\$\d/.test(found) ? found : undefined;
  // `@@name` is a variable of the server, and `a:b` no parameter.
  return /^[@:]/.test(found) && /[@:]$/.test(before.at(-1)?.text ?? '') ? undefined : found;
}

/** Folds `(?, ?, ?)` after IN and in VALUES to one mark: their length belongs to the values. */
function foldLists(tokens: readonly Token[]): Token[] {
  const kept: Token[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]!;
    const end = token.text === '(' && isList(kept.at(-1)) ? endOfList(tokens, at) : undefined;
    if (end === undefined) {
      kept.push(token);
      continue;
    }
    at = end;
    // Further rows of VALUES, after their comma.
    if (kept.at(-1)?.text === ',' && kept.at(-2)?.text === folded) kept.pop();
    else kept.push({ text: folded, isValue: false, isApart: true });
  }
  return kept;
}

/** True for what precedes a list of values: IN, VALUES, or the comma after a row. */
function isList(before: Token | undefined): boolean {
  return before !== undefined && /^(in|values|,)$/i.test(before.text);
}

/** Returns the index of the parenthesis that closes a list of nothing but values, or of rows of them. */
function endOfList(tokens: readonly Token[], start: number): number | undefined {
  let depth = 0;
  for (let at = start; at < tokens.length; at++) {
    const { text, isValue } = tokens[at]!;
    if (text === '(') depth++;
    else if (text === ')') depth--;
    // The name of a type follows `::`.
    else if (!isValue && !besideValues.test(text) && tokens[at - 1]!.text !== '::')
      return undefined;
    if (depth === 0) return at > start + 1 ? at : undefined;
  }
  return undefined;
}

/** Numbers values in their order, as PostgreSQL does; a parameter that is used twice keeps its number. */
function numbered(tokens: readonly Token[]): Token[] {
  const known = new Map<string, string>();
  let count = 0;
  return tokens.map((token) => {
    if (!token.isValue) return token;
    const text = (token.text === '?' ? undefined : known.get(token.text)) ?? `$${++count}`;
    if (token.text !== '?') known.set(token.text, text);
    return { ...token, text };
  });
}

function joined(tokens: readonly Token[]): string {
  return tokens
    .map(({ text, isApart }, index) => (isApart && index > 0 ? ` ${text}` : text))
    .join('');
}
