import type { Project } from '../../project/read-project.ts';
import type { Modules } from '../syntax/modules.ts';
import type { RequestPath } from '../syntax/request-path.ts';
import type { SourceFile } from '../syntax/source-file.ts';

/** A file that is not code: package.json, .nvmrc, a Dockerfile. */
export interface TextFile {
  path: string;
  name: string;
  text: string;
}

/** What the rules look at. */
export interface App {
  folder: string;
  project: Project | undefined;
  /** package.json as an expression of JavaScript, which JSON is; positions are those of the file. */
  packageJson: SourceFile | undefined;
  /** The code that the command runs, as far as imports lead; all of the folder where they do not say. */
  sources: SourceFile[];
  /** Where the command starts; undefined where that is unknown. */
  entry: SourceFile | undefined;
  modules: Modules;
  requests: RequestPath;
  /** Dockerfile, .nvmrc and the like, those that exist. */
  texts: TextFile[];
  /** Names of everything that package.json depends on. */
  dependencies: ReadonlySet<string>;
  /** The major version of a dependency: as it is installed, otherwise as package.json asks for it. */
  majorOf(name: string): number | undefined;
  /** The command that was given, or the start script, as words. */
  start: { words: readonly string[]; env: Readonly<Record<string, string>> } | undefined;
}
