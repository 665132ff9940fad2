import type { CallNode, CallTree, Frame } from '../../profile/call-tree.ts';
import { keyOf } from '../../profile/functions.ts';
import { packageOf } from '../../profile/package-of.ts';
import { percent } from '../../report/format.ts';
import type { App } from '../app/app.ts';
import { at, type Node } from '../syntax/node.ts';
import type { SourceFile } from '../syntax/source-file.ts';
import type { SeenCall } from './blocked.ts';
import { type HotPlace, mainBuiltin } from './hot-functions.ts';
import { type ObservedFunctions, pathOf } from './observed-functions.ts';

/** A package and the builtins it runs, without the functions of Node it calls. */
interface Hot {
  name: string;
  samples: number;
  /** Nearest callers in the app, by the key of the frame. */
  callers: Map<string, { frame: Frame; samples: number }>;
  /** Samples in builtins at the top of the stack, by name. */
  builtins: Map<string, number>;
}

/** Above the share of a framework that serves small responses. */
const minShare = 0.3;
/** Min share of a package's time at which a caller is named. */
const mainShare = 0.5;

/** Replacements for well-known packages. */
const remedies: Readonly<Record<string, string>> = {
  bcryptjs:
    'Use the package bcrypt, or scrypt of node:crypto with a callback: both work in threads, so other requests are served meanwhile.',
  moment: 'Use Intl.DateTimeFormat, made once, or the methods of Date.',
  jimp: 'Use the package sharp, which works in threads.',
};
const remedy =
  'Call it less often or with less data, keep its results, or look for an option or a package that takes less time. Long work, such as hashes, images and documents, belongs in a worker thread.';

/** Finds packages that take much of the time, at the line of the app that calls or imports them. */
export function hotPackages(tree: CallTree, app: App, functions: ObservedFunctions): SeenCall[] {
  return [...collect(tree).values()]
    .filter(({ samples }) => samples >= tree.samples * minShare)
    .toSorted((a, b) => b.samples - a.samples)
    .flatMap((hot) => {
      const [main] = [...hot.callers.values()].toSorted((a, b) => b.samples - a.samples);
      const caller =
        main !== undefined && main.samples >= hot.samples * mainShare ? main.frame : undefined;
      const place = callPlace(hot.name, caller, functions) ?? importPlace(hot.name, app);
      if (place === undefined) return [];
      const builtin = mainBuiltin(hot.builtins, hot.samples);
      const within = builtin === undefined ? '' : `, ${builtin.text}`;
      const by = caller === undefined ? '' : `, called by ${nameOf(caller)}`;
      return [
        {
          samples: hot.samples,
          edits: [],
          finding: {
            rule: 'hot-package',
            title: 'the package with the time',
            ...place,
            sure: 'certain' as const,
            why: `${hot.name} has ${percent(hot.samples / tree.samples)} of the time in which the thread was busy, the builtins it runs included${within}${by}.`,
            how: remedies[hot.name] ?? remedy,
            diff: '',
            isOnMeasuredPath: true,
          },
        },
      ];
    });
}

function collect(tree: CallTree): Map<string, Hot> {
  const found = new Map<string, Hot>();
  const visit = (node: CallNode, above: Hot | undefined, caller: Frame | undefined): void => {
    const { frame, self } = node;
    let hot = above;
    if (frame.url !== '') hot = frame.owner === 'deps' ? hotOf(found, frame) : undefined;
    else if (frame.name.startsWith('(')) hot = undefined;
    const nearest = frame.owner === 'app' ? frame : caller;
    if (hot !== undefined && self > 0) {
      hot.samples += self;
      if (frame.url === '')
        hot.builtins.set(frame.name, (hot.builtins.get(frame.name) ?? 0) + self);
      if (nearest !== undefined) {
        const known = hot.callers.get(keyOf(nearest)) ?? { frame: nearest, samples: 0 };
        known.samples += self;
        hot.callers.set(keyOf(nearest), known);
      }
    }
    for (const child of node.children) visit(child, hot, nearest);
  };
  visit(tree.root, undefined, undefined);
  return found;
}

function hotOf(found: Map<string, Hot>, frame: Frame): Hot | undefined {
  const name = packageOf(pathOf(frame.url))?.name;
  if (name === undefined) return undefined;
  const known = found.get(name) ?? { name, samples: 0, callers: new Map(), builtins: new Map() };
  found.set(name, known);
  return known;
}

/** Finds the first call in the function of a name that its file imports from the package. */
function callPlace(
  name: string,
  caller: Frame | undefined,
  functions: ObservedFunctions,
): HotPlace | undefined {
  const found = caller && functions.of(caller);
  if (found === undefined) return undefined;
  const { file, node } = found;
  const imported = new Set(importsOf(name, file).flatMap(localNames));
  const call = file
    .calls()
    .find(
      (each) =>
        node.start <= each.start &&
        each.end <= node.end &&
        imported.has(/^[\w$]+/.exec(file.textOf(at(each, 'callee') ?? each))?.[0] ?? ''),
    );
  return call && placeIn(file, call);
}

function importPlace(name: string, { sources }: App): HotPlace | undefined {
  for (const file of sources) {
    const [found] = importsOf(name, file);
    if (found !== undefined) return placeIn(file, found);
  }
  return undefined;
}

function importsOf(name: string, file: SourceFile): Node[] {
  const isOf = (source: unknown): boolean =>
    typeof source === 'string' && (source === name || source.startsWith(`${name}/`));
  return [
    ...file.all('ImportDeclaration').filter((each) => isOf(at(each, 'source')?.['value'])),
    ...file.calls().filter((each) => {
      const [first] = (each['arguments'] as Node[] | undefined) ?? [];
      return at(each, 'callee')?.['name'] === 'require' && isOf(first?.['value']);
    }),
  ];
}

function localNames(found: Node): string[] {
  const specifiers = found['specifiers'] as Node[] | undefined;
  if (specifiers !== undefined) {
    return specifiers.flatMap((each) => (at(each, 'local')?.['name'] as string | undefined) ?? []);
  }
  const { parent } = found;
  const id = parent?.type === 'VariableDeclarator' ? at(parent, 'id') : undefined;
  if (typeof id?.['name'] === 'string') return [id['name']];
  const properties = (id?.['properties'] as Node[] | undefined) ?? [];
  return properties.flatMap((each) => (at(each, 'value')?.['name'] as string | undefined) ?? []);
}

function placeIn(file: SourceFile, { start }: Node): HotPlace {
  const { line, column } = file.placeOf(start);
  return { file: file.name, line, column, excerpt: file.lineText(line).trim().slice(0, 160) };
}

function nameOf({ name }: Frame): string {
  return name === '(anonymous)' ? 'this function' : name;
}
