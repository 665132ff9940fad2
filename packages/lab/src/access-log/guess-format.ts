/** Field patterns with their nginx log_format names; `$_` is a field unrelated to the request. */
const looks: readonly [expression: RegExp, name: string][] = [
  [/^\[[^\]]*\d{4}[^\]]*\]/, '[$time_local]'],
  [/^"[A-Z]{3,8} \S+(?: HTTP\/[\d.]+)?"/, '"$request"'],
  [/^"(?:[^"\\]|\\.)*"/, '"$_"'],
  [/^\[[^\]]*\]/, '[$_]'],
  [/^\d{10}\.\d{3}(?=\s|$)/, '$msec'],
  [/^\d{4}-\d\d-\d\dT\S+/, '$time_iso8601'],
  [/^[1-5]\d\d(?=\s|$)/, '$status'],
  [/^\d{1,5}\.\d{3}(?=\s|$)/, '$request_time'],
  [/^\S+/, '$_'],
];

/** Suggests a `--format` for a line that was not understood; undefined if it contains no request or no status. */
export function guessFormat(line: string): string | undefined {
  let rest = line.trim();
  const words: string[] = [];
  const once = new Set<string>();
  while (rest !== '' && words.length < 60) {
    for (const [expression, name] of looks) {
      const found = expression.exec(rest);
      if (found === null) continue;
      const isFirst = !once.has(name);
      once.add(name);
      words.push(isFirst || name.includes('$_') ? name : '$_');
      rest = rest.slice(found[0].length).trimStart();
      break;
    }
  }
  return once.has('"$request"') && once.has('$status') ? words.join(' ') : undefined;
}
