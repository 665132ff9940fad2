import type { Sure } from '../result.ts';
import type { App } from '../app/app.ts';
import type { Preload } from '../../try/packages.ts';
import type { Edit } from '../edits.ts';
import type { Node } from '../syntax/node.ts';

/** A place where a rule found what it looks for. */
export interface Sighting {
  /** A file of the app, with its text. */
  file: { path: string; name: string; text: string };
  /** From the first character of the file, the end not included. */
  start: number;
  end: number;
  sure: Sure;
  /** What it costs, in one sentence. */
  why: string;
  /** What to do about it, in one sentence. */
  how: string;
  /** The change itself, where it can be written without knowing more than the code shows. */
  edits?: Edit[];
  /** The package whose import before the app is the change, where the command decides that and no file does. */
  preload?: Preload['name'];
  /** Where a profile shows it. */
  seen?: Seen;
}

/**
 * The calls of these names in the function around the place, this function itself, or everything in these packages or modules
 * of Node.
 */
export type Seen =
  | { calls: readonly string[] }
  | { itself: Node }
  | { packages: readonly string[] };

export interface Rule {
  id: string;
  /** What was found, as a heading: no sentence. */
  title: string;
  look(app: App): Iterable<Sighting>;
}
