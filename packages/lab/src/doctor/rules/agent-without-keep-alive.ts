import type { Edit } from '../edits.ts';
import {
  argumentsOf,
  at,
  isLiteral,
  isWrittenOut,
  listAt,
  type Node,
  propertyOf,
} from '../syntax/node.ts';
import type { SourceFile } from '../syntax/source-file.ts';
import type { Rule } from './rule.ts';

const requesting =
  /^(https?\.(get|request)|axios(\.create|\.get|\.post|\.request)?|node-fetch|got(\.extend)?)$/;

export const agentWithoutKeepAlive: Rule = {
  id: 'agent-without-keep-alive',
  title: 'outgoing requests that open a connection each',
  *look({ sources, modules }) {
    for (const file of sources) {
      for (const call of file.calls()) {
        const origin = modules.originOf({ file, node: at(call, 'callee')! });
        if (origin === undefined) continue;
        const isAgent = /^https?\.Agent$/.test(origin) && call.type === 'NewExpression';
        const options = argumentsOf(call);
        if (isAgent) {
          const [given] = options;
          const setting = propertyOf(given, 'keepAlive');
          if (
            isLiteral(setting, false) ||
            (setting === undefined && (given === undefined || isWrittenOut(given)))
          ) {
            yield {
              file,
              start: call.start,
              end: call.end,
              sure: 'certain',
              why: 'An Agent made without keepAlive closes each connection after one request; the global one of Node keeps them.',
              how: 'Set keepAlive to true.',
              edits: [keepAlive(file, call, given, setting)],
            };
          }
        } else if (requesting.test(origin)) {
          const off = options
            .map((each) => propertyOf(each, 'agent'))
            .find((each) => isLiteral(each, false));
          if (off === undefined) continue;
          yield {
            file,
            start: off.start,
            end: off.end,
            sure: 'certain',
            why: '"agent: false" opens a connection for this one request.',
            how: 'Leave it out: the global agent of Node keeps connections.',
            edits: [withoutProperty(file, off.parent!)],
          };
        }
      }
    }
  },
};

function keepAlive(
  file: SourceFile,
  call: Node,
  given: Node | undefined,
  setting: Node | undefined,
): Edit {
  if (setting !== undefined) return { file, start: setting.start, end: setting.end, text: 'true' };
  if (given === undefined) {
    const hasBrackets = file.text[call.end - 1] === ')';
    const end = call.end;
    return {
      file,
      start: hasBrackets ? end - 1 : end,
      end,
      text: hasBrackets ? '{ keepAlive: true })' : '({ keepAlive: true })',
    };
  }
  const [first] = listAt(given, 'properties');
  const start = given.start + 1;
  return {
    file,
    start,
    end: start,
    text: first === undefined ? ' keepAlive: true ' : ' keepAlive: true,',
  };
}

/** With the comma and the space that belong to it. */
function withoutProperty(file: SourceFile, property: Node): Edit {
  const after = /^\s*,[^\S\n]*/.exec(file.text.slice(property.end))?.[0].length;
  if (after !== undefined)
    return { file, start: property.start, end: property.end + after, text: '' };
  const before = /,?\s*$/.exec(file.text.slice(0, property.start))![0].length;
  return { file, start: property.start - before, end: property.end, text: before > 0 ? ' ' : '' };
}
