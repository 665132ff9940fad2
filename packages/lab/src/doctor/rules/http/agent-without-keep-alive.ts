import type { Edit } from '../../edits.ts';
import {
  argumentsOf,
  at,
  isLiteral,
  isWrittenOut,
  listAt,
  nameOf,
  type Node,
  propertyOf,
  stringOf,
} from '../../syntax/node.ts';
import type { Code } from '../../syntax/files.ts';
import type { Modules } from '../../syntax/modules.ts';
import type { SourceFile } from '../../syntax/source-file.ts';
import type { Rule } from '../rule.ts';

const requesting =
  /^(https?\.(get|request)|axios(\.create|\.get|\.post|\.request)?|node-fetch|undici\.(fetch|request)|got(\.(extend|get|post))?)$/;

export const agentWithoutKeepAlive: Rule = {
  id: 'agent-without-keep-alive',
  title: 'outgoing requests that open a connection each',
  *look({ sources, modules }) {
    const seen = new Set<Node>();
    for (const file of sources) {
      for (const call of file.calls()) {
        const origin = modules.originOf({ file, node: at(call, 'callee')! });
        if (origin === undefined) continue;
        const isAgent = /^https?\.Agent$/.test(origin) && call.type === 'NewExpression';
        const options = argumentsOf(call);
        if (isAgent) {
          const [written] = options;
          const given = written && constantOf(file, written, modules);
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
              ...(given === written ? { edits: [keepAlive(file, call, given, setting)] } : {}),
            };
          }
        } else if (requesting.test(origin)) {
          const found = options
            .flatMap((each) => objectsOf({ file, node: each }, modules))
            .flatMap((each) => closing(each) ?? [])
            .filter(({ value }) => !seen.has(value));
          for (const { file: own, value, text } of found) {
            seen.add(value);
            yield {
              file: own,
              start: value.start,
              end: value.end,
              sure: 'certain',
              why: `"${text}" opens a connection for this one request.`,
              how: 'Leave it out: the global agent of Node keeps connections.',
              edits: [withoutProperty(own, value.parent!)],
            };
          }
        }
      }
    }
  },
};

/** Returns the object in a constant of this file that is not modified later; otherwise the expression itself. */
function constantOf(file: SourceFile, node: Node, modules: Modules): Node {
  if (node.type !== 'Identifier') return node;
  const found = modules.valueOf({ file, node });
  const name = nameOf(node)!;
  const isChanged = file
    .all('MemberExpression')
    .some((each) => nameOf(at(each, 'object')) === name);
  return found?.file === file && found.node.type === 'ObjectExpression' && !isChanged
    ? found.node
    : node;
}

/** Resolves options to their object literals, through names and spreads. */
function objectsOf(given: Code, modules: Modules): Code[] {
  const object = modules.valueOf(given);
  if (object?.node.type !== 'ObjectExpression') return [];
  const spread = listAt(object.node, 'properties').flatMap((each) => {
    const node = each.type === 'SpreadElement' ? at(each, 'argument') : undefined;
    return node === undefined || node.type !== 'Identifier'
      ? []
      : objectsOf({ file: object.file, node }, modules);
  });
  return [object, ...spread];
}

/** Finds `agent: false`, or a header that closes the connection. */
function closing({
  file,
  node,
}: Code): { file: SourceFile; value: Node; text: string } | undefined {
  const agent = propertyOf(node, 'agent');
  if (isLiteral(agent, false)) return { file, value: agent!, text: 'agent: false' };
  for (const header of listAt(propertyOf(node, 'headers'), 'properties')) {
    const value = at(header, 'value');
    const isConnection = /^connection$/i.test(nameOf(at(header, 'key')) ?? '');
    if (isConnection && /^close$/i.test(stringOf(value) ?? ''))
      return { file, value: value!, text: 'connection: close' };
  }
  return undefined;
}

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

/** Removes a property with its comma and space. */
function withoutProperty(file: SourceFile, property: Node): Edit {
  const after = /^\s*,[^\S\n]*/.exec(file.text.slice(property.end))?.[0].length;
  if (after !== undefined)
    return { file, start: property.start, end: property.end + after, text: '' };
  const before = /,?\s*$/.exec(file.text.slice(0, property.start))![0].length;
  return { file, start: property.start - before, end: property.end, text: before > 0 ? ' ' : '' };
}
