import type { Project } from '../../project/read-project.ts';
import type { Modules } from '../syntax/modules.ts';
import type { RequestPath } from '../syntax/request-path.ts';
import type { SourceFile } from '../syntax/source-file.ts';

/** A file other than source code: package.json, .nvmrc, a Dockerfile. */
export interface TextFile {
  path: string;
  name: string;
  text: string;
}

/** An import of a file that does not exist. */
export interface Missing {
  /** The importing file, relative to the app's folder. */
  from: string;
  specifier: string;
}

/** An app as the rules see it. */
export interface App {
  folder: string;
  project: Project | undefined;
  /** package.json as a JavaScript expression, which all JSON is; positions are those in the file. */
  packageJson: SourceFile | undefined;
  /** Source files that the command imports; all of the folder if its imports cannot be followed. */
  sources: SourceFile[];
  /** Entry file of the command; undefined if unknown. */
  entry: SourceFile | undefined;
  /** Imports of files that do not exist because they have not been built or generated. */
  missing: readonly Missing[];
  /** e.g. `Nest on Express`, from the imports of the code. */
  framework: string | undefined;
  modules: Modules;
  requests: RequestPath;
  /** Existing files among Dockerfile, .nvmrc and the like. */
  texts: TextFile[];
  /** Names of all dependencies in package.json. */
  dependencies: ReadonlySet<string>;
  /** Returns the major version of a dependency: the installed one, otherwise the one package.json requires. */
  majorOf(name: string): number | undefined;
  /** The given command, or the start script, as words. */
  start: { words: readonly string[]; env: Readonly<Record<string, string>> } | undefined;
}
