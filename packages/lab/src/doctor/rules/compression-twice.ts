import { argumentsOf, methodOf, type Node, statementOf, stringOf } from '../syntax/node.ts';
import type { Edit } from '../edits.ts';
import type { SourceFile } from '../syntax/source-file.ts';
import type { Rule } from './rule.ts';

const compressors =
  /^(compression|koa-compress|@fastify\/compress|fastify-compress|shrink-ray|express-compression)(\(\))?$/;

export const compressionTwice: Rule = {
  id: 'compression-twice',
  title: 'a compression that is attached twice',
  *look({ sources, modules }) {
    for (const file of sources) {
      const owners = new Map<string, Node>();
      for (const call of file.all('CallExpression')) {
        const method = methodOf(call);
        if (method === undefined || !/^(use|register)$/.test(method.name)) continue;
        const args = argumentsOf(call);
        const [first] = args;
        const isPlugin = method.name === 'register';
        const [origin] = (isPlugin ? args.slice(0, 1) : args).flatMap(
          (node) => compressors.exec(modules.originOf({ file, node }) ?? '')?.[1] ?? [],
        );
        // In a branch of its own it may be the only one.
        if (origin === undefined || call.parent?.type !== 'ExpressionStatement') continue;
        // Of two paths, each has its own.
        const path = isPlugin ? '' : (stringOf(first) ?? '');
        const block = call.parent.parent;
        if (!/^(Program|BlockStatement)$/.test(block?.type ?? '')) continue;
        const owner = `${file.textOf(method.object)} ${origin} ${path} ${block!.start}`;
        if (!owners.has(owner)) {
          owners.set(owner, call);
          continue;
        }
        yield {
          file,
          start: call.start,
          end: call.end,
          sure: 'certain',
          why: `${origin} is attached to ${file.textOf(method.object)} already: each response runs through it twice.`,
          how: 'Leave the second one out.',
          ...(args.length === 1 || isPlugin
            ? { edits: [withoutStatement(file, statementOf(call))] }
            : {}),
          seen: { packages: [origin] },
        };
      }
    }
  },
};

function withoutStatement(file: SourceFile, { start, end }: Node): Edit {
  const indent = /[^\S\n]*$/.exec(file.text.slice(0, start))![0].length;
  const rest = /^[^\S\n]*\n?/.exec(file.text.slice(end))![0].length;
  return { file, start: start - indent, end: end + rest, text: '' };
}
