import {
  argumentsOf,
  at,
  bare,
  isCall,
  isFunction,
  listAt,
  methodOf,
  nameOf,
  type Node,
} from '../../syntax/node.ts';
import { decoratorsOf } from '../../syntax/request-path.ts';
import type { Binding } from '../../syntax/scopes.ts';
import type { SourceFile } from '../../syntax/source-file.ts';

/** A part of a request, or a parameter of a function that requests reach. */
export type Origin = 'request' | 'parameter';

const requests = /^(?:req|request|ctx|context|c|event)$/;
/** Parts of a request whose text the client chooses. */
const parts =
  /^(?:body|query|querystring|params|param|headers|header|get|url|originalUrl|path|cookies|search|hostname|req|request)$/;
const eachOf = /^(?:map|filter|some|every|find|findIndex|findLast|flatMap|forEach|reduce)$/;
/** Limit for variables that are made from each other. */
const maxSteps = 12;

/** Returns where a text comes from; undefined for constants, the environment and what is read elsewhere. */
export function originOfText(
  file: SourceFile,
  node: Node | undefined,
  steps: number = maxSteps,
): Origin | undefined {
  const text = bare(node);
  if (text === undefined || steps === 0) return undefined;
  const of = (each: Node | undefined): Origin | undefined => originOfText(file, each, steps - 1);
  const ofAny = (all: readonly (Node | undefined)[]): Origin | undefined => {
    const found = all.map(of);
    return found.find((each) => each === 'request') ?? found.find((each) => each !== undefined);
  };
  switch (text.type) {
    case 'Identifier':
      return ofVariable(file, text, steps);
    case 'MemberExpression':
      return isOfRequest(text) ? 'request' : of(at(text, 'object'));
    case 'CallExpression': {
      const callee = bare(at(text, 'callee'));
      return ofAny([
        ...(callee?.type === 'MemberExpression' ? [callee] : []),
        ...argumentsOf(text),
      ]);
    }
    case 'TemplateLiteral':
      return ofAny(listAt(text, 'expressions'));
    case 'BinaryExpression':
    case 'LogicalExpression':
      return ofAny([at(text, 'left'), at(text, 'right')]);
    case 'ConditionalExpression':
      return ofAny([at(text, 'consequent'), at(text, 'alternate')]);
    case 'AwaitExpression':
      return of(at(text, 'argument'));
    default:
      return undefined;
  }
}

/** True for `req.query.name`, `ctx.request.body`, `request.headers['x-name']`. */
function isOfRequest(member: Node): boolean {
  let node: Node | undefined = member;
  let isPart = false;
  while (node?.type === 'MemberExpression') {
    isPart ||= node['computed'] !== true && parts.test(nameOf(at(node, 'property')) ?? '');
    node = bare(at(node, 'object'));
  }
  return isPart && node?.type === 'Identifier' && requests.test(nameOf(node)!);
}

function ofVariable(file: SourceFile, node: Node, steps: number): Origin | undefined {
  const binding = file.scopes.find(nameOf(node)!, node);
  if (binding?.kind === 'variable') return originOfText(file, at(binding.node, 'init'), steps - 1);
  if (binding?.kind !== 'parameter' || !isFunction(binding.scope)) return undefined;
  if (decoratorsOf(binding.node).length > 0) return 'request';
  const list = listOf(binding);
  return list === undefined ? 'parameter' : originOfText(file, list, steps - 1);
}

/** Returns `list` of `list.map((item) => …)`, whose elements the parameter is. */
function listOf({ scope }: Binding): Node | undefined {
  const { parent } = scope;
  const method = methodOf(parent);
  const isFirst = isCall(parent) && argumentsOf(parent)[0] === scope;
  return method !== undefined && isFirst && eachOf.test(method.name) ? method.object : undefined;
}
