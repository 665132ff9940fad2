/** Exits the process if a requested app is unknown to the proof. */
export function requireApps(
  asked: readonly string[],
  known: Readonly<Record<string, unknown>>,
): void {
  const unknown = asked.find((name) => known[name] === undefined);
  if (unknown === undefined) return;
  const names = Object.keys(known).join(', ');
  process.stderr.write(`Unknown app "${unknown}"; the apps are ${names}.\n`);
  process.exit(2);
}
