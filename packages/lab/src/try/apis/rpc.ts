import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { resolveRequest } from '../../config/resolve-plan.ts';
import type { RequestConfig } from '../../config/types.ts';
import { actionIn } from '../actions.ts';

type Request = Required<RequestConfig>;
type Headers = Record<string, string>;

export const mcpPaths: readonly string[] = ['/mcp', '/api/mcp'];
export const rpcPaths: readonly string[] = ['/', '/rpc', '/jsonrpc', '/api/rpc'];
export const trpcPaths: readonly string[] = ['/trpc', '/api/trpc', ''];

/** Lists in the Model Context Protocol: they run none of its tools. */
const mcpLists = ['tools/list', 'resources/list', 'prompts/list'];
/** Of OpenRPC, of servers after the manner of XML-RPC, and of nodes of Ethereum. */
const rpcLists = ['rpc.discover', 'system.listMethods', 'eth_blockNumber'];
/** First words of methods that read. */
const reading = /^(?:\w+[._/])*(get|list|find|search|query|read|fetch|count|ping|version|status)/i;
const mostNames = 40;

function call(path: string, method: string, headers: Headers, params?: object): Request {
  const body = { jsonrpc: '2.0', id: 1, method, ...(params && { params }) };
  return resolveRequest({
    method: 'POST',
    path,
    body: JSON.stringify(body),
    headers: {
      ...headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
  });
}

/** Begins a session, where the server keeps any. */
export function mcpGreeting(path: string, headers: Headers): Request {
  return call(path, 'initialize', headers, {
    protocolVersion: '2025-03-26',
    capabilities: {},
    clientInfo: { name: 'redline', version: '0' },
  });
}

/** Whether a response, as JSON or as an event, is one of the protocol to {@link mcpGreeting}. */
export function isMcp(body: Buffer): boolean {
  return /"protocolVersion"\s*:/.test(body.toString('latin1'));
}

export function mcpRequests(path: string, headers: Headers): Request[] {
  return mcpLists.map((method) => call(path, method, headers));
}

export function rpcLooks(path: string, headers: Headers): Request[] {
  return rpcLists.map((method) => call(path, method, headers));
}

/** The result of a response of JSON-RPC; null where it is an error, and undefined where it is something else. */
export function rpcResult(body: Buffer): unknown {
  const read = parsed(body) as { jsonrpc?: string; result?: unknown } | undefined;
  if (read?.jsonrpc !== '2.0') return undefined;
  return read.result ?? null;
}

interface OpenRpc {
  methods?: { name?: string; params?: { required?: boolean }[] }[];
}

/** What a list of methods names that reads and needs nothing, and the request for the list itself. */
export function rpcRequests(look: Request, result: unknown, headers: Headers): Request[] {
  const { methods } = result as OpenRpc;
  const described = Array.isArray(methods)
    ? methods.filter(({ params = [] }) => params.every(({ required }) => required !== true))
    : [];
  const plain = Array.isArray(result) ? (result as unknown[]).map((name) => ({ name })) : [];
  const names = [...described, ...plain].flatMap(({ name }) =>
    typeof name === 'string' && reading.test(name) && actionIn(name) === undefined ? [name] : [],
  );
  return [...names.slice(0, mostNames).map((name) => call(look.path, name, headers)), look];
}

/** A procedure that no app has: the response to it shows whether tRPC is there. */
export function trpcLook(base: string, headers: Headers): Request {
  return resolveRequest({ path: `${base}/redline.looks`, headers });
}

export function isTrpc(body: Buffer): boolean {
  const read = parsed(body) as { error?: { code?: number; json?: { code?: number } } } | undefined;
  return (read?.error?.code ?? read?.error?.json?.code) === -32_004;
}

const sources = '{*,*/*,*/*/*,*/*/*/*}.{js,mjs,cjs,ts,mts}';
const mostFiles = 400;
const mostBytes = 200_000;

/**
 * The queries of an app in its sources: tRPC has no list of them. A name that is not a query does no harm, as tRPC answers GET of
 * any other with 405, and runs nothing.
 */
export function trpcRequests(folder: string, base: string, headers: Headers): Request[] {
  const files = globSync(sources, {
    cwd: folder,
    exclude: (name) => /^(node_modules|\..*|coverage|tests?)$/.test(name),
  });
  const text = files
    .slice(0, mostFiles)
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).size < mostBytes)
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
  if (!text.includes('@trpc/server')) return [];
  const procedures = [...text.matchAll(/(\w+)\s*:\s*[\w.]*procedure\b/gi)];
  const names = procedures.flatMap(({ 1: name, index }, at) => {
    const chain = text.slice(index, procedures[at + 1]?.index);
    return /^[^;]*?\.(query|mutation|subscription)\b/.exec(chain)?.[1] === 'query' ? name! : [];
  });
  const routers = [...text.matchAll(/(\w+)\s*:\s*[\w.]*router\b/gi)].map(([, name]) => name!);
  const all = ['', ...new Set(routers)].flatMap((router) =>
    [...new Set(names)].map((name) => (router === '' ? name : `${router}.${name}`)),
  );
  return all
    .filter((name) => actionIn(name) === undefined)
    .slice(0, 2 * mostNames)
    .map((name) => resolveRequest({ path: `${base}/${name}`, headers }));
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
