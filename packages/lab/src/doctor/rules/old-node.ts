import { jsonAt } from '../app/read-app.ts';
import { stringOf } from '../syntax/node.ts';
import type { Rule, Sighting } from './rule.ts';

/** What is older gets no security fixes any more, and has the slower V8. */
const oldestMaintained = 22;
const current = 24;

export const oldNode: Rule = {
  id: 'old-node',
  title: 'an end-of-life version of Node',
  *look({ texts, packageJson }) {
    for (const file of texts) {
      const found =
        file.name === 'Dockerfile' ? inDockerfile(file.text) : inVersionFile(file.name, file.text);
      if (found !== undefined) yield sighting(file, found);
    }
    const pinned = jsonAt(packageJson, 'volta', 'node');
    const text = stringOf(pinned);
    if (packageJson === undefined || pinned === undefined || text === undefined) return;
    const version = /^\d+[\d.]*/.exec(text)?.[0];
    if (version !== undefined)
      yield* [{ start: pinned.start + 1, version }]
        .filter(isOld)
        .map((found) => sighting(packageJson, found));
  },
};

interface Pinned {
  start: number;
  version: string;
}

function sighting(file: Sighting['file'], { start, version }: Pinned): Sighting {
  const end = start + version.length;
  return {
    file,
    start,
    end,
    sure: 'certain',
    why: `Node ${version} gets no fixes any more, and its V8 is slower than that of Node ${current}.`,
    how: `Move to Node ${current}; redline runtimes compares the two on this app.`,
    edits: [{ file, start, end, text: String(current) }],
  };
}

function isOld({ version }: Pinned): boolean {
  return Number.parseInt(version, 10) < oldestMaintained;
}

function inVersionFile(name: string, text: string): Pinned | undefined {
  if (name !== '.nvmrc' && name !== '.node-version') return undefined;
  const found = /^\s*v?(\d+(?:\.\d+)*)\s*$/d.exec(text);
  const pinned =
    found?.[1] === undefined ? undefined : { start: found.indices![1]![0], version: found[1] };
  return pinned && isOld(pinned) ? pinned : undefined;
}

/** The last stage is what runs. */
function inDockerfile(text: string): Pinned | undefined {
  const found = [...text.matchAll(/^FROM\s+(?:--\S+\s+)?(?:\S+\/)?node:(\d+(?:\.\d+)*)/dgim)].at(
    -1,
  );
  const pinned =
    found?.[1] === undefined ? undefined : { start: found.indices![1]![0], version: found[1] };
  return pinned && isOld(pinned) ? pinned : undefined;
}
