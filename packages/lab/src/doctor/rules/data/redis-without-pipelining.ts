import type { Edit } from '../../edits.ts';
import {
  argumentsOf,
  at,
  bare,
  isLiteral,
  isWrittenOut,
  listAt,
  methodOf,
  nameOf,
  type Node,
  propertyOf,
} from '../../syntax/node.ts';
import type { Code } from '../../syntax/files.ts';
import type { SourceFile } from '../../syntax/source-file.ts';
import type { App } from '../../app/app.ts';
import type { Rule } from '../rule.ts';

const client = /^(ioredis|iovalkey)(\.Redis)?$/;

export const redisWithoutPipelining: Rule = {
  id: 'redis-without-pipelining',
  title: 'one write to Redis for each command',
  *look(app) {
    for (const file of app.sources) {
      for (const call of file.all('NewExpression')) {
        const origin = app.modules.originOf({ file, node: at(call, 'callee')! });
        if (origin === undefined || !client.test(origin)) continue;
        const args = argumentsOf(call);
        const options = args
          .map((each) => bare(each))
          .find((each) => each?.type === 'ObjectExpression');
        if (propertyOf(options, 'enableAutoPipelining') !== undefined) continue;
        // Options from elsewhere may set it; the commands of a BullMQ connection or a subscriber are not sent together.
        if (options !== undefined && !leavesAutoPipeliningUnset(app, { file, node: options }))
          continue;
        const passed = args
          .map((each) => bare(each))
          .find((each) => each?.type === 'Identifier' && isOptions(each));
        if (passed !== undefined && mentionsAutoPipelining(app)) continue;
        if (isLiteral(propertyOf(options, 'maxRetriesPerRequest'), null) || subscribes(file, call))
          continue;
        yield {
          file,
          start: call.start,
          end: call.end,
          sure: app.requests.reachOf(call) === undefined ? 'likely' : 'hint',
          why: 'Each command is a write of its own to the socket, also when many requests ask in the same turn of the event loop.',
          how: 'enableAutoPipelining sends all commands of a turn together. Leave it off for a Cluster with commands of several keys.',
          edits: [pipelining(file, call, options, passed)],
          seen: { packages: ['ioredis', 'iovalkey', 'redis-parser', 'denque'] },
        };
      }
    }
  },
};

/** True if all keys of the options are visible, including spreads, and none of them sets it. */
function leavesAutoPipeliningUnset({ modules }: App, { file, node }: Code): boolean {
  if (propertyOf(node, 'enableAutoPipelining') !== undefined) return false;
  return listAt(node, 'properties').every((each) => {
    if (each.type !== 'SpreadElement') return each['computed'] !== true;
    const spread = modules.valueOf({ file, node: at(each, 'argument')! });
    return spread?.node.type === 'ObjectExpression' && isWrittenOut(spread.node)
      ? propertyOf(spread.node, 'enableAutoPipelining') === undefined
      : false;
  });
}

function isOptions(node: Node): boolean {
  return /opt|conf|setting/i.test(nameOf(node) ?? '');
}

/** True if the option is set anywhere: it may well apply to this client. */
function mentionsAutoPipelining({ sources }: App): boolean {
  return sources.some(({ text }) => /\benableAutoPipelining\b/.test(text));
}

function subscribes(file: SourceFile, call: Node): boolean {
  const name = nameOf(at(call.parent, 'id')) ?? nameOf(at(at(call.parent, 'left'), 'property'));
  if (name === undefined) return false;
  return file.all('CallExpression').some((each) => {
    const method = methodOf(each);
    const owner = method && (nameOf(method.object) ?? nameOf(at(method.object, 'property')));
    return (
      owner === name &&
      /^(p?subscribe|ssubscribe|b[lr]pop|xread(group)?|monitor)$/.test(method!.name)
    );
  });
}

function pipelining(
  file: SourceFile,
  call: Node,
  options: Node | undefined,
  passed: Node | undefined,
): Edit {
  const setting = 'enableAutoPipelining: true';
  if (options !== undefined) {
    const start = options.start + 1;
    const isEmpty = (options['properties'] as unknown[]).length === 0;
    return { file, start, end: start, text: isEmpty ? ` ${setting} ` : ` ${setting},` };
  }
  if (passed !== undefined) {
    const name = file.textOf(passed);
    return { file, start: passed.start, end: passed.end, text: `{ ${setting}, ...${name} }` };
  }
  const args = argumentsOf(call);
  const last = args.at(-1);
  if (last !== undefined) return { file, start: last.end, end: last.end, text: `, { ${setting} }` };
  const hasBrackets = file.text[call.end - 1] === ')';
  const start = hasBrackets ? call.end - 1 : call.end;
  return { file, start, end: call.end, text: hasBrackets ? `{ ${setting} })` : `({ ${setting} })` };
}
