import { argumentsOf, methodOf, type Node, statementOf, stringOf } from '../../syntax/node.ts';
import type { Edit } from '../../edits.ts';
import type { SourceFile } from '../../syntax/source-file.ts';
import type { App } from '../../app/app.ts';
import type { Rule, Sighting } from '../rule.ts';

const compressors =
  /^(compression|koa-compress|@fastify\/compress|fastify-compress|shrink-ray|express-compression)(\(\))?$/;

export const compressionTwice: Rule = {
  id: 'compression-twice',
  title: 'a compression that is attached twice',
  *look({ sources, modules }) {
    yield* throughRouters({ sources, modules });
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
        // In its own branch it may be the only one.
        if (origin === undefined || call.parent?.type !== 'ExpressionStatement') continue;
        // Different paths may each have their own.
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

/** Finds a router that compresses, mounted in an app that compresses everything. */
function* throughRouters({
  sources,
  modules,
}: Pick<App, 'sources' | 'modules'>): Generator<Sighting> {
  const uses = sources.flatMap((file) =>
    file.all('CallExpression').flatMap((call) => {
      const method = methodOf(call);
      if (method?.name !== 'use') return [];
      const owner = modules.valueOf({ file, node: method.object })?.node;
      return owner?.type === 'CallExpression' ? [{ file, call, owner, object: method.object }] : [];
    }),
  );
  const compressing = uses.flatMap((use) => {
    const args = argumentsOf(use.call);
    const origins = args.flatMap(
      (node) => compressors.exec(modules.originOf({ file: use.file, node }) ?? '')?.[1] ?? [],
    );
    return origins.length === 0
      ? []
      : [{ ...use, origin: origins[0]!, isOfAll: args.length === 1 }];
  });
  for (const inner of compressing) {
    const isMounted = uses.some(
      ({ file, call, owner }) =>
        owner !== inner.owner &&
        argumentsOf(call).some((node) => modules.valueOf({ file, node })?.node === inner.owner) &&
        compressing.some(
          (outer) =>
            outer.isOfAll &&
            outer.owner === owner &&
            outer.origin === inner.origin &&
            outer.file === file &&
            outer.call.start < call.start,
        ),
    );
    if (!isMounted || inner.call.parent?.type !== 'ExpressionStatement') continue;
    yield {
      file: inner.file,
      start: inner.call.start,
      end: inner.call.end,
      sure: 'certain',
      why: `${inner.origin} is attached to the app that ${inner.file.textOf(inner.object)} is mounted in: each response runs through it twice.`,
      how: 'Leave the second one out.',
      ...(inner.isOfAll ? { edits: [withoutStatement(inner.file, statementOf(inner.call))] } : {}),
      seen: { packages: [inner.origin] },
    };
  }
}
