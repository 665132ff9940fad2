import { readFileSync } from 'node:fs';

/** Returns user and group of the first of `names` that exists on this system. Only root can run programs as another user. */
export function anotherUser(...names: string[]): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const name of names) {
    const line = lines.find((each) => each.startsWith(`${name}:`));
    const [, , uid, gid] = line?.split(':') ?? [];
    if (uid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  return undefined;
}
