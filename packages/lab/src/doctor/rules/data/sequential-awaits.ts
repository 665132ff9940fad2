import type { App } from '../../app/app.ts';
import type { Edit } from '../../edits.ts';
import { at, bare, listAt, nameOf, type Node, within } from '../../syntax/node.ts';
import type { SourceFile } from '../../syntax/source-file.ts';
import { waitsOf } from './waits-in.ts';
import type { Rule, Sighting } from '../rule.ts';

export const sequentialAwaits: Rule = {
  id: 'sequential-awaits',
  title: 'awaits one after another that could run together',
  *look(app) {
    for (const file of app.sources) {
      for (const block of file.all('BlockStatement')) {
        if (app.requests.reachOf(block) === undefined) continue;
        for (const run of runsOf(app, file, listAt(block, 'body')))
          yield ofStatements(app, file, run);
      }
      for (const value of file.all('ObjectExpression', 'ArrayExpression')) {
        if (app.requests.reachOf(value) === undefined) continue;
        const awaits = partsOf(value).filter((each) => isRead(app, file, each));
        if (awaits.length > 1) yield sightingOf(app, file, awaits[1]!, awaits.length);
      }
    }
  },
};

interface Declared {
  statement: Node;
  pattern: Node;
  /** The operand of `await`. */
  call: Node;
}

/** Finds adjacent statements that each await a read and are independent of each other. */
function* runsOf(app: App, file: SourceFile, statements: readonly Node[]): Generator<Declared[]> {
  let run: Declared[] = [];
  for (const statement of [...statements, undefined]) {
    const declared = statement && declaredBy(app, file, statement);
    if (declared !== undefined && !run.some((each) => mentions(file, declared, each))) {
      run.push(declared);
      continue;
    }
    if (run.length > 1) yield run;
    run = declared === undefined ? [] : [declared];
  }
}

function declaredBy(app: App, file: SourceFile, statement: Node): Declared | undefined {
  const [declarator, ...others] = listAt(statement, 'declarations');
  if (statement['kind'] !== 'const' || declarator === undefined || others.length > 0)
    return undefined;
  const init = bare(at(declarator, 'init'));
  if (init === undefined || !isRead(app, file, init)) return undefined;
  return { statement, pattern: at(declarator, 'id')!, call: at(init, 'argument')! };
}

/** True for `await` of a call that only reads, and does not use a single connection. */
function isRead(app: App, file: SourceFile, node: Node): boolean {
  const call = node.type === 'AwaitExpression' ? bare(at(node, 'argument')) : undefined;
  if (call?.type !== 'CallExpression') return false;
  // The order of awaits inside the call may matter.
  if ([...within(call)].some(({ type }) => type === 'AwaitExpression')) return false;
  const waits = waitsOf(app, { file, node: call });
  return waits.length > 0 && waits.every(({ reads, isConnection }) => reads && !isConnection);
}

/** True if a declaration uses a name that an earlier one declares. */
function mentions(file: SourceFile, { call, pattern }: Declared, earlier: Declared): boolean {
  return [...within(call), ...within(pattern)].some((each) => {
    const name = each.type === 'Identifier' ? nameOf(each) : undefined;
    const binding = name === undefined ? undefined : file.scopes.find(name, each);
    return binding?.node === earlier.pattern.parent;
  });
}

function partsOf(value: Node): Node[] {
  const parts =
    value.type === 'ArrayExpression'
      ? listAt(value, 'elements')
      : listAt(value, 'properties').map((each) => at(each, 'value'));
  return parts.flatMap((each) => bare(each) ?? []);
}

function ofStatements(app: App, file: SourceFile, run: readonly Declared[]): Sighting {
  const edits = together(file, run);
  return {
    ...sightingOf(app, file, run[1]!.statement, run.length),
    ...(edits === undefined ? {} : { edits }),
  };
}

function sightingOf(app: App, file: SourceFile, { start, end }: Node, count: number): Sighting {
  const node = file.all('AwaitExpression').find((each) => start <= each.start && each.end <= end)!;
  return {
    file,
    start,
    end,
    sure: app.requests.reachOf(node) === undefined ? 'hint' : 'likely',
    why: `${count === 2 ? 'Two' : count} independent reads wait for each other: the response takes the sum of their times instead of the longest.`,
    how: 'Start them together: await Promise.all([…]).',
  };
}

/** Writes `const [a, b] = await Promise.all([x(), y()]);`; undefined if a comment would be lost. */
function together(file: SourceFile, run: readonly Declared[]): Edit[] | undefined {
  const { start } = run[0]!.statement;
  const { end } = run.at(-1)!.statement;
  if (/\/[/*]/.test(file.text.slice(start, end).replaceAll(/(['"`])(?:\\.|(?!\1)[^\\])*\1/g, '')))
    return undefined;
  if (run.some(({ pattern }) => at(pattern, 'typeAnnotation') !== undefined)) return undefined;
  const indent = /[^\S\n]*$/.exec(file.text.slice(0, start))![0];
  const list = (parts: readonly string[]): string => {
    const line = parts.join(', ');
    if (line.length < 50 && !line.includes('\n')) return `[${line}]`;
    return `[\n${parts.map((part) => `${indent}  ${part},\n`).join('')}${indent}]`;
  };
  const names = run.map(({ pattern }) => file.textOf(pattern));
  const calls = run.map(({ call }) => file.textOf(call));
  return [{ file, start, end, text: `const ${list(names)} = await Promise.all(${list(calls)});` }];
}
