import { fileURLToPath } from 'node:url';
import { packageOf } from '../../profile/package-of.ts';
import { relative } from 'node:path';
import { callbacksFile } from './adapters/callbacks.ts';
import type { StageKind, Trace, TraceEntry } from './protocol.ts';
import { eventsFile } from './request-events.ts';
import type { StairsState } from './state.ts';
import type { FunctionFacts } from './transform.ts';

type Caller = Pick<
  TraceEntry,
  'isRoot' | 'isCaught' | 'isListener' | 'isWrapped' | 'isBelowDependency'
>;

/** Max number of stacks read for one function of one request; more would add nothing new. */
const looksPerFunction = 8;

/** Files that only forward errors. */
const passing = new Set([eventsFile, callbacksFile]);

/** Phase `trace`: records the functions that a request enters, in order. */
export class Recorder {
  readonly #state: StairsState;
  readonly #facts = new Map<string, FunctionFacts>();
  readonly #appFiles = new Set<string>();
  readonly #ownFolder: string;
  #entries = new Map<string, TraceEntry>();
  readonly frameworks: Set<string> = new Set();
  readonly unreadable: Set<string> = new Set();

  constructor(state: StairsState, ownFolder: string) {
    this.#state = state;
    this.#ownFolder = ownFolder;
  }

  know(facts: FunctionFacts): void {
    this.#facts.set(facts.id, facts);
    this.#appFiles.add(facts.file);
    this.#appFiles.add(facts.place.file);
  }

  start(): void {
    this.#entries = new Map();
    this.#state.onEnter = (id, stage) => this.#enter(id, stage);
  }

  report(): Trace {
    this.#state.onEnter = undefined;
    return {
      entries: [...this.#entries.values()],
      frameworks: [...this.frameworks],
      unreadable: [...this.unreadable],
    };
  }

  #enter(id: string, stage: { kind: StageKind; name: string } | undefined): void {
    const { current, responses } = this.#state;
    const response = current ?? responses.getStore();
    if (response === undefined) return;
    const known = this.#entries.get(id);
    if (known === undefined) {
      this.#entries.set(id, {
        ...this.#identityOf(id, stage),
        id,
        count: 1,
        afterAnswer: response.writableEnded,
        isSameTurn: current !== undefined,
        ...this.#callerOf(),
      });
      return;
    }
    known.count++;
    if (known.count > looksPerFunction) return;
    const caller = this.#callerOf();
    known.isRoot ||= caller.isRoot;
    known.isCaught &&= caller.isCaught;
    known.isListener ||= caller.isListener;
  }

  #identityOf(
    id: string,
    stage: { kind: StageKind; name: string } | undefined,
  ): Pick<TraceEntry, 'kind' | 'name' | 'place' | 'package' | 'isAsync' | 'isConstructor'> {
    const facts = this.#facts.get(id);
    if (facts === undefined) {
      const { kind, name } = stage ?? { kind: 'function', name: id };
      return { kind, name, place: '', isAsync: false, isConstructor: false };
    }
    const from = packageOf(facts.place.file);
    return {
      kind: facts.isResume ? 'resume' : 'function',
      name: facts.name,
      place: `${from === undefined ? shortPath(facts.place.file) : `${from.name}/${from.file}`}:${facts.place.line}`,
      ...(from === undefined ? {} : { package: from.name }),
      isAsync: facts.isAsync,
      isConstructor: facts.isConstructor,
    };
  }

  /** Reads the stack below the function that was entered. Frames beyond an await are not part of it. */
  #callerOf(): Caller {
    const sites = callSites();
    // Skips this method, #enter, the arrow and the state's method to the function itself: the first frame that is not ours.
    const index = sites.findIndex((site) => !this.#isOwn(site)) + 1;
    const none = { isRoot: true, isCaught: false, isListener: false, isWrapped: false };
    const caller: Caller = { ...none, isBelowDependency: false };
    if (index === 0) return caller;
    let isNearest = true;
    for (const site of sites.slice(index)) {
      if (site.isAsync()) break;
      const file = fileOf(site);
      // The constructor of Promise catches errors.
      if (file === undefined && site.isConstructor() && site.getFunctionName() === 'Promise') {
        caller.isCaught = true;
        break;
      }
      // Built-ins in between, as in items.map(price), belong to their caller.
      if (file === undefined || passing.has(file)) continue;
      const isOurs = this.#isOwn(site);
      if (isNearest) {
        caller.isWrapped = isOurs;
        caller.isListener = /^node:(events|internal\/timers)$/.test(file);
        isNearest = false;
      }
      if (isOurs) {
        caller.isCaught = true;
        break;
      }
      caller.isBelowDependency ||= /[\\/]node_modules[\\/]/.test(file);
      if (this.#appFiles.has(file)) {
        caller.isRoot = false;
        break;
      }
    }
    return caller;
  }

  #isOwn(site: NodeJS.CallSite): boolean {
    return fileOf(site)?.startsWith(this.#ownFolder) ?? false;
  }
}

/** Returns the path relative to the start folder of the app; the end of the path for files elsewhere. */
function shortPath(file: string): string {
  const path = relative(process.cwd(), file);
  return path.startsWith('..') ? file.split(/[\\/]/).slice(-2).join('/') : path;
}

function fileOf(site: NodeJS.CallSite): string | undefined {
  const name = site.getFileName() ?? undefined;
  return name?.startsWith('file://') ? fileURLToPath(name) : name;
}

function callSites(): NodeJS.CallSite[] {
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.stackTraceLimit = 200;
  Error.prepareStackTrace = (_error, sites) => sites;
  const holder: { stack?: unknown } = {};
  Error.captureStackTrace(holder, callSites);
  const sites = holder.stack as NodeJS.CallSite[];
  Error.prepareStackTrace = prepareStackTrace;
  Error.stackTraceLimit = stackTraceLimit;
  return sites;
}
