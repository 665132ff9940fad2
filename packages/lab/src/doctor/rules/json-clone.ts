import { argumentsOf, bare, methodOf, nameOf, type Node } from '../syntax/node.ts';
import type { SourceFile } from '../syntax/source-file.ts';
import { memoisationOf } from './memoisation.ts';
import type { Rule } from './rule.ts';

export const jsonClone: Rule = {
  id: 'json-clone',
  title: 'a copy by way of JSON for each request',
  *look({ sources, requests }) {
    for (const file of sources) {
      for (const call of file.all('CallExpression')) {
        const [text, ...others] = isJson(file, call, 'parse') ? argumentsOf(call) : [];
        const written = bare(text);
        if (written === undefined || others.length > 0 || !isJson(file, written, 'stringify'))
          continue;
        const reach = requests.reachOf(call);
        if (reach === undefined || memoisationOf(file, call) !== undefined) continue;
        yield {
          file,
          start: call.start,
          end: call.end,
          sure: reach,
          why: 'The whole value is written as text and parsed again on the event loop; dates become strings on the way.',
          how: 'Copy only the fields that change ({ ...value, field }), or share the value and freeze it. structuredClone is not faster.',
          seen: { calls: ['parse', 'stringify'] },
        };
      }
    }
  },
};

function isJson(file: SourceFile, call: Node, name: string): boolean {
  const method = methodOf(call);
  return (
    method?.name === name &&
    nameOf(method.object) === 'JSON' &&
    file.scopes.find('JSON', method.object) === undefined
  );
}
