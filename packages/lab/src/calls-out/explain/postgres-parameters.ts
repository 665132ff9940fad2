// cspell:ignore timestamptz timetz bytea
const types = String.raw`(?:timestamp|time)\s+with(?:out)?\s+time\s+zone|double\s+precision|timestamptz|timestamp|timetz|time|date|interval|uuid|jsonb?|inet|numeric|decimal|bigint|smallint|integer|int|boolean|bool|text|bytea`;

/** Names come first, as a `$` in them begins no parameter. */
const parts = new RegExp(
  String.raw`"(?:[^"]|"")*"|\b(?<type>${types})\s+(?<typed>\$\d+)|[\p{L}_][\p{L}\p{N}_$]*|[-+]\s*(?<signed>\$\d+)|\$(?<number>\d+)`,
  'giu',
);

/** Ends before a sign that belongs to one value, not to two operands. */
const beforeSign =
  /(?:[=<>!+*/%,(-]|\b(?:select|distinct|where|and|or|not|then|else|when|case|between|by|on|having|limit|offset|returning))\s*$/i;

/**
 * Makes a statement of a fingerprint: a parameter can stand for `5`, but neither for the string of `interval '5 days'`, nor have a sign
 * without a type. Each folded list has one parameter, after those of the fingerprint.
 * @returns the number of parameters, too
 */
export function withParameters(text: string): { sql: string; values: number } {
  let values = 0;
  const sql = text.replaceAll(parts, (part, ...more) => {
    const { type, typed, signed, number } = more.at(-1) as Record<string, string | undefined>;
    const parameter = typed ?? signed ?? (number === undefined ? undefined : part);
    if (parameter === undefined) return part;
    values = Math.max(values, Number(parameter.slice(1)));
    if (type !== undefined) return `${parameter}::${type}`;
    const [before, whole] = more.slice(-3) as [number, string];
    return signed !== undefined && beforeSign.test(whole.slice(0, before)) ? signed : part;
  });
  const lists = sql.replaceAll(/"(?:[^"]|"")*"|\(…\)/g, (part) =>
    part === '(…)' ? `($${++values})` : part,
  );
  return { sql: lists, values };
}
