import type { Sure } from '../result.ts';
import type { App } from '../app/app.ts';
import type { Preload } from '../../try/packages.ts';
import type { Edit } from '../edits.ts';
import type { Node } from '../syntax/node.ts';

/** A place in the code that matches a rule. */
export interface Sighting {
  file: { path: string; name: string; text: string };
  /** Offset in the file; the end is exclusive. */
  start: number;
  end: number;
  sure: Sure;
  /** The cost, in one sentence. */
  why: string;
  /** The remedy, in one sentence. */
  how: string;
  /** The change itself, if the code shows enough to write it. */
  edits?: Edit[];
  /** Package to import before the app, if the change is made in the command and not in a file. */
  preload?: Preload['name'];
  /** Parts of a profile that show its cost. */
  seen?: Seen;
}

/** Calls of these names in the surrounding function, this function itself, or everything in these packages or modules of Node. */
export type Seen =
  | { calls: readonly string[] }
  | { itself: Node }
  | { packages: readonly string[] };

export interface Rule {
  id: string;
  /** Short heading for the finding, not a sentence. */
  title: string;
  look(app: App): Iterable<Sighting>;
}
