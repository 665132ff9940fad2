import type { Modules } from '../../syntax/modules.ts';
import {
  argumentsOf,
  at,
  isCall,
  listAt,
  methodOf,
  nameOf,
  type Node,
  stringOf,
} from '../../syntax/node.ts';
import type { SourceFile } from '../../syntax/source-file.ts';

/** A call that matches a regular expression against a text, or a schema with one. */
export interface Match {
  source: string;
  flags: string;
  /** The call, or the expression of a schema. */
  node: Node;
  /** Undefined for a schema: it validates what is sent. */
  text: Node | undefined;
}

/** Methods of zod, yup, Joi, valibot and class-validator that take an expression for the texts they validate. */
const validators = /^(?:regex|pattern|matches|Matches)$/;

/** Yields the matches of a file, wherever in the app their expression is written. */
export function* matchesIn(file: SourceFile, modules: Modules): Generator<Match> {
  for (const node of file.calls()) {
    const [first] = argumentsOf(node);
    const { name, object } = methodOf(node) ?? {
      name: nameOf(at(node, 'callee')) ?? '',
      object: undefined,
    };
    const isOfText = /^(?:match|matchAll|search|replace|replaceAll|split)$/.test(name);
    const isOfRegExp = /^(?:test|exec)$/.test(name);
    const written = isOfRegExp ? object : isOfText || validators.test(name) ? first : undefined;
    const expression = written && expressionOf(file, written, modules);
    if (expression === undefined) continue;
    if (validators.test(name)) yield { ...expression, node: written!, text: undefined };
    else if (isOfRegExp && first !== undefined) yield { ...expression, node, text: first };
    else if (isOfText && object !== undefined) yield { ...expression, node, text: object };
  }
  yield* schemasIn(file);
}

/** Finds `{ type: 'string', pattern: '…' }`: JSON Schema, whose validators make the expression with the flag u. */
function* schemasIn(file: SourceFile): Generator<Match> {
  for (const object of file.all('ObjectExpression')) {
    const valueOf = (key: string): Node | undefined =>
      at(
        listAt(object, 'properties').find((each) => nameOf(at(each, 'key')) === key),
        'value',
      );
    const pattern = valueOf('pattern');
    const source = stringOf(pattern);
    if (pattern === undefined || source === undefined || stringOf(valueOf('type')) !== 'string')
      continue;
    yield { source, flags: 'u', node: pattern, text: undefined };
  }
}

function expressionOf(
  file: SourceFile,
  written: Node,
  modules: Modules,
): { source: string; flags: string } | undefined {
  const value = modules.valueOf({ file, node: written })?.node;
  const literal = value?.['regex'] as { pattern: string; flags: string } | undefined;
  if (value?.type === 'Literal' && literal !== undefined)
    return { source: literal.pattern, flags: literal.flags };
  if (!isCall(value) || nameOf(at(value, 'callee')) !== 'RegExp') return undefined;
  const [pattern, flags] = argumentsOf(value);
  const source = stringOf(pattern);
  return source === undefined ? undefined : { source, flags: stringOf(flags) ?? '' };
}
