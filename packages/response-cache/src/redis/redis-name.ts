/**
 * Returns the form of a key or tag in Redis. In UTF-8 all lone surrogates are one character: two keys would be one, and a change
 * that Redis reports would match neither. JSON escapes them.
 */
export function redisName(name: string): string {
  return name.isWellFormed() && !name.startsWith('"') ? name : JSON.stringify(name);
}

/** Returns the key or tag that Redis has under `name`. */
export function nameInRedis(name: string): string {
  if (!name.startsWith('"')) return name;
  try {
    return String(JSON.parse(name));
  } catch {
    return name;
  }
}
