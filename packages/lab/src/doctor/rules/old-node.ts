import { jsonAt } from '../app/read-app.ts';
import { stringOf } from '../syntax/node.ts';
import type { SourceFile } from '../syntax/source-file.ts';
import type { Rule, Sighting } from './rule.ts';

/** Code names of the lines that are no longer maintained, as in `lts/hydrogen`. */
const oldLines: Readonly<Record<string, string>> = {
  argon: '4',
  boron: '6',
  carbon: '8',
  dubnium: '10',
  erbium: '12',
  fermium: '14',
  gallium: '16',
  hydrogen: '18',
  iron: '20',
};
/** Older versions no longer get security fixes, and have the slower V8. */
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
    yield* ofEngines(packageJson);
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
  /** Text in the file, if it is a code name. */
  written?: string;
}

function sighting(file: Sighting['file'], { start, version, written = version }: Pinned): Sighting {
  const end = start + written.length;
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

/** Checks `engines`: hosts choose a version by `"node": "16.x"`. A range without an upper bound allows the newest. */
function* ofEngines(packageJson: SourceFile | undefined): Generator<Sighting> {
  const range = jsonAt(packageJson, 'engines', 'node');
  const text = stringOf(range);
  if (packageJson === undefined || range === undefined || text === undefined) return;
  const only = /^\s*[=v^~]*\s*(\d+)(?:\.(?:\d+|[x*]))*\s*$/d.exec(text);
  const below = /<\s*(\d+)(?:\.0)*(?:-0)?\s*$/d.exec(text);
  const highest = only === null ? Number(below?.[1]) - 1 : Number(only[1]);
  if (text.includes('||') || !(highest < oldestMaintained)) return;
  const { edits: _, ...found } = sighting(packageJson, {
    start: range.start + 1,
    version: String(highest),
    written: text,
  });
  const [major] = only?.indices?.[1] ?? [];
  yield {
    ...found,
    ...(major === undefined
      ? {}
      : {
          edits: [
            {
              file: packageJson,
              start: range.start,
              end: range.end,
              text: JSON.stringify(`${current}.x`),
            },
          ],
        }),
  };
}

function inVersionFile(name: string, text: string): Pinned | undefined {
  if (name === '.tool-versions') {
    const line = /^\s*node(?:js)?\s+(\d+(?:\.\d+)*)/dm.exec(text);
    const asked =
      line?.[1] === undefined ? undefined : { start: line.indices![1]![0], version: line[1] };
    return asked && isOld(asked) ? asked : undefined;
  }
  if (name !== '.nvmrc' && name !== '.node-version') return undefined;
  const line = /^\s*(lts\/(\w+))\s*$/d.exec(text);
  const version = oldLines[line?.[2] ?? ''];
  if (version !== undefined) return { start: line!.indices![1]![0], version, written: line![1]! };
  const found = /^\s*v?(\d+(?:\.\d+)*)\s*$/d.exec(text);
  const pinned =
    found?.[1] === undefined ? undefined : { start: found.indices![1]![0], version: found[1] };
  return pinned && isOld(pinned) ? pinned : undefined;
}

/**
 * Finds the version in a Dockerfile. The last stage is the one that runs: its image counts, or that of the stage it is based on.
 */
function inDockerfile(text: string): Pinned | undefined {
  const stages = [...text.matchAll(/^FROM\s+(?:--\S+\s+)?(\S+)(?:\s+AS\s+(\S+))?/dgim)];
  let stage = stages.at(-1);
  for (let next = stage; next !== undefined;) {
    stage = next;
    const name = stage[1]!;
    next = stages.find((each) => each[2] === name && each.index < stage!.index);
  }
  if (stage === undefined) return undefined;
  const [imageStart] = stage.indices![1]!;
  const image = /^(?:\S+\/)?(?:node:|nodejs)(\d+(?:\.\d+)*|\$\{?(\w+)[^\s-]*)/d.exec(stage[1]!);
  if (image?.[1] === undefined) return undefined;
  const pinned =
    image[2] === undefined
      ? { start: imageStart + image.indices![1]![0], version: image[1] }
      : argumentIn(text, image[2]);
  return pinned && isOld(pinned) ? pinned : undefined;
}

/** Reads the default of `ARG NODE_VERSION=18`, used without --build-arg. */
function argumentIn(text: string, name: string): Pinned | undefined {
  const found = new RegExp(`^ARG\\s+${name}=["']?(\\d+(?:\\.\\d+)*)`, 'dim').exec(text);
  return found?.[1] === undefined ? undefined : { start: found.indices![1]![0], version: found[1] };
}
