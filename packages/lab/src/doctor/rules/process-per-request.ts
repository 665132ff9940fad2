import type { Edit } from '../edits.ts';
import { at, isFunction, type Node, stringOf } from '../syntax/node.ts';
import type { SourceFile } from '../syntax/source-file.ts';
import type { Rule } from './rule.ts';

const starting = /^child_process\.(spawn|exec|execFile|fork)$/;

export const processPerRequest: Rule = {
  id: 'process-per-request',
  title: 'a process started for each request',
  *look({ sources, modules, requests }) {
    for (const file of sources) {
      for (const call of file.calls()) {
        const callee = at(call, 'callee')!;
        if (isFunction(callee)) continue;
        const [, name] = starting.exec(modules.originOf({ file, node: callee }) ?? '') ?? [];
        const reach = name === undefined ? undefined : requests.reachOf(call);
        if (name === undefined || reach === undefined) continue;
        const edits = importEdits(file);
        yield {
          file,
          start: call.start,
          end: call.end,
          sure: reach,
          why: `node:child_process starts a process on the event loop: while ${name} forks, no other request is served.`,
          how: '@redline/child-process has the same API and starts it on another thread; its pool keeps processes.',
          ...(edits.length === 0 ? {} : { edits }),
          seen: { calls: [name, 'spawn'] },
        };
      }
    }
  },
};

/** Imports the same names from the package instead of Node's module. */
function importEdits(file: SourceFile): Edit[] {
  return file
    .all('ImportDeclaration', 'CallExpression')
    .flatMap((node): Node[] => {
      const given = node.type === 'ImportDeclaration' ? at(node, 'source') : requiredBy(node);
      return given !== undefined && /^(node:)?child_process$/.test(stringOf(given) ?? '')
        ? [given]
        : [];
    })
    .map(({ start, end }) => ({
      file,
      start,
      end,
      text: `${file.text[start]}@redline/child-process${file.text[start]}`,
    }));
}

function requiredBy(call: Node): Node | undefined {
  const callee = at(call, 'callee');
  const isRequire = callee?.type === 'Identifier' && callee['name'] === 'require';
  return isRequire ? (call['arguments'] as Node[])[0] : undefined;
}
