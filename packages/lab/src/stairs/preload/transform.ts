import { parse } from 'acorn';
import { type AnyNode, type FoundFunction, nameKeeper, walk } from './functions.ts';
import { globalName } from './state.ts';

/** A function of the app, or a place in one that resumes after an `await`. */
export interface FunctionFacts {
  id: string;
  name: string;
  file: string;
  /** Position in the source, which differs for compiled code. */
  place: { file: string; line: number };
  isAsync: boolean;
  isConstructor: boolean;
  isResume: boolean;
}

interface Edit {
  at: number;
  text: string;
  /** Number of characters to remove. */
  remove: number;
}

export interface SourceFile {
  file: string;
  source: string;
  isModule: boolean;
  /** Maps a position in the code to its position in the source. Lines count from 1, columns from 0. */
  original?: ((line: number, column: number) => { file: string; line: number }) | undefined;
}

/** Makes every function report its entry, and every `await` its end. */
export function traceSource(file: SourceFile, found: (facts: FunctionFacts) => void): string {
  return edit(file, {
    function(facts) {
      found(facts);
      return { prologue: `${globalName}.enter(${JSON.stringify(facts.id)});`, guard: '' };
    },
    resume(facts) {
      found(facts);
      return `${globalName}.resume(${JSON.stringify(facts.id)},`;
    },
    letsThrough: false,
  });
}

/**
 * Makes each stage end the request at its entry in its turn, by throwing: the app and its libraries release in their own `finally`
 * what they have opened, and asynchronous functions reject. The throw reaches the next guard, or the error handling of a framework.
 * All other functions are unchanged.
 */
export function cutSource(
  file: SourceFile,
  stages: Readonly<Record<string, number>>,
  guards: ReadonlySet<string>,
): string {
  return edit(file, {
    function({ id, isAsync }) {
      const number = stages[id];
      const cut = `if(${globalName}.k<=${number}&&${globalName}.cut(${number}))throw ${globalName}.S;`;
      // Callers of an asynchronous function ignore its promise; a synchronous one may be part of a promise chain.
      const way = `return ${globalName}.${isAsync ? 'leave' : 'reject'}();`;
      return { prologue: number === undefined ? '' : cut, guard: guards.has(id) ? way : '' };
    },
    resume: ({ id }) =>
      stages[id] === undefined ? undefined : `${globalName}.resumed(${stages[id]},`,
    letsThrough: true,
  });
}

interface Insertion {
  prologue: string;
  /** Code that stops an unwinding request; empty if it continues. */
  guard: string;
}

interface Edits {
  function(facts: FunctionFacts): Insertion;
  /** Returns the start of the call whose last argument is the `await`. */
  resume(facts: FunctionFacts): string | undefined;
  /** True if rejection handlers rethrow for an ended request. */
  letsThrough: boolean;
}

function edit(asking: SourceFile, asked: Edits): string {
  const { source, isModule } = asking;
  const root = parse(source, {
    ecmaVersion: 'latest',
    sourceType: isModule ? 'module' : 'script',
    allowHashBang: true,
    allowReturnOutsideFunction: true,
    allowAwaitOutsideFunction: isModule,
    preserveParens: true,
    locations: true,
  }) as unknown as AnyNode;
  const edits: Edit[] = [];
  const chosen = new Map<FoundFunction, Insertion>();
  const insert = (at: number, text: string, remove = 0): void =>
    void edits.push({ at, text, remove });
  walk(root, {
    enter(found) {
      if (found.node.generator || found.name === nameKeeper) return;
      const insertion = asked.function(factsOf(found, asking));
      if (insertion.prologue === '' && insertion.guard === '') return;
      chosen.set(found, insertion);
      open(found, insertion, insert);
    },
    leave(found) {
      const insertion = chosen.get(found);
      if (insertion) close(found, insertion, insert);
    },
    awaits({ node, within, owner }) {
      if (within.node.generator) return undefined;
      const call = asked.resume(resumeOf(node, within, asking));
      if (call === undefined) return undefined;
      if (owner) {
        insert(owner.start + 1, `${call}0);`);
        return undefined;
      }
      insert(node.start, call);
      return () => insert(node.end, ')');
    },
    catches(clause) {
      rethrowCutException(clause, source, insert);
    },
    handles(handler, isLast) {
      if (!asked.letsThrough) return undefined;
      insert(handler.start, `${globalName}.${isLast ? 'last' : 'handler'}(`);
      return () => insert(handler.end, ')');
    },
  });
  return apply(source, edits);
}

function factsOf({ node, name, isConstructor }: FoundFunction, asking: SourceFile): FunctionFacts {
  const { file } = asking;
  const id = `${file}:${node.start}`;
  const place = placeOf(node, asking);
  return { id, name, file, place, isAsync: node.async, isConstructor, isResume: false };
}

function resumeOf(node: AnyNode, { name }: FoundFunction, asking: SourceFile): FunctionFacts {
  const { file } = asking;
  const place = placeOf(node, asking);
  return {
    id: `${file}:${node.start}`,
    name: `${name} after await :${place.line}`,
    file,
    place,
    isAsync: true,
    isConstructor: false,
    isResume: true,
  };
}

function placeOf(node: AnyNode, { file, original }: SourceFile): { file: string; line: number } {
  const { line, column } = node.loc!.start;
  return original?.(line, column) ?? { file, line };
}

type Insert = (at: number, text: string, remove?: number) => void;

function open(
  { node, isConstructor }: FoundFunction,
  { prologue, guard }: Insertion,
  insert: Insert,
): void {
  const guardStart = guard !== '' && !isConstructor ? 'try{' : '';
  if (node.body.type === 'BlockStatement') {
    const { at, separator } = afterDirectives(node.body);
    insert(at, `${separator}${guardStart}${prologue}`);
  } else {
    insert(node.body.start, `{${guardStart}${prologue}return `);
  }
}

function close({ node, isConstructor }: FoundFunction, { guard }: Insertion, insert: Insert): void {
  const guardEnd =
    guard !== '' && !isConstructor
      ? `}catch($redline){if($redline!==${globalName}.S)throw $redline;${guard}}`
      : '';
  if (node.body.type === 'BlockStatement') {
    if (guardEnd !== '') insert(node.body.end - 1, guardEnd);
  } else {
    insert(node.body.end, `;${guardEnd}}`);
  }
}

/** Returns the position after the directives: 'use strict' only counts as the first statement. */
function afterDirectives(block: AnyNode): { at: number; separator: string } {
  const directives = (block['body'] as AnyNode[]).findLast((statement, index, all) =>
    all.slice(0, index + 1).every(({ directive }) => typeof directive === 'string'),
  );
  // The directive may lack its semicolon.
  return directives === undefined
    ? { at: block.start + 1, separator: '' }
    : { at: directives.end, separator: ';' };
}

/**
 * Makes the app's own `catch` rethrow for an ended request, so that it does not treat it as a failure; likewise for an error that a
 * library made of one.
 */
function rethrowCutException(clause: AnyNode, source: string, insert: Insert): void {
  const body = clause['body'] as AnyNode;
  const param = clause['param'] as AnyNode | null;
  const rethrow = (name: string): string => `if(${globalName}.isOver(${name}))throw ${name};`;
  if (param === null) {
    insert(clause.start + 'catch'.length, '($redline)');
    insert(body.start + 1, rethrow('$redline'));
  } else if (param.type === 'Identifier') {
    insert(body.start + 1, rethrow(String(param['name'])));
  } else {
    const pattern = source.slice(param.start, param.end);
    insert(param.start, '$redline', param.end - param.start);
    insert(body.start + 1, `${rethrow('$redline')}let ${pattern}=$redline;`);
  }
}

function apply(source: string, edits: readonly Edit[]): string {
  let text = '';
  let at = 0;
  for (const each of edits.toSorted((a, b) => a.at - b.at)) {
    text += source.slice(at, each.at) + each.text;
    at = each.at + each.remove;
  }
  return text + source.slice(at);
}
