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

/** List methods of the Model Context Protocol: they run none of its tools. */
const mcpLists = ['tools/list', 'resources/list', 'prompts/list'];
/** Methods of OpenRPC, of servers in the style of XML-RPC, and of Ethereum nodes. */
const rpcLists = ['rpc.discover', 'system.listMethods', 'eth_blockNumber'];
/** First words of methods that read. */
const reading = /^(?:\w+[._/])*(get|list|find|search|query|read|fetch|count|ping|version|status)/i;
const maxNames = 40;

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

/** Starts a session, if the server keeps any. */
export function mcpInitialize(path: string, headers: Headers): Request {
  return call(path, 'initialize', headers, {
    protocolVersion: '2025-03-26',
    capabilities: {},
    clientInfo: { name: 'redline', version: '0' },
  });
}

/** True if the body, JSON or an event, is a protocol response to {@link mcpInitialize}. */
export function isMcp(body: Buffer): boolean {
  return /"protocolVersion"\s*:/.test(body.toString('latin1'));
}

export function mcpRequests(path: string, headers: Headers): Request[] {
  return mcpLists.map((method) => call(path, method, headers));
}

export function rpcDescriptionRequests(path: string, headers: Headers): Request[] {
  return rpcLists.map((method) => call(path, method, headers));
}

/** Returns the result of a JSON-RPC response; null if it is an error, and undefined for any other body. */
export function rpcResult(body: Buffer): unknown {
  const read = parsed(body) as { jsonrpc?: string; result?: unknown } | undefined;
  if (read?.jsonrpc !== '2.0') return undefined;
  return read.result ?? null;
}

interface OpenRpc {
  methods?: { name?: string; params?: { required?: boolean }[] }[];
}

/** Returns requests for the listed methods that read and need no parameters, and the request for the list itself. */
export function rpcRequests(listing: Request, result: unknown, headers: Headers): Request[] {
  const { methods } = result as OpenRpc;
  const described = Array.isArray(methods)
    ? methods.filter(({ params = [] }) => params.every(({ required }) => required !== true))
    : [];
  const plain = Array.isArray(result) ? (result as unknown[]).map((name) => ({ name })) : [];
  const names = [...described, ...plain].flatMap(({ name }) =>
    typeof name === 'string' && reading.test(name) && actionIn(name) === undefined ? [name] : [],
  );
  return [...names.slice(0, maxNames).map((name) => call(listing.path, name, headers)), listing];
}

/** Calls a procedure that no app has: the response shows if the server is tRPC. */
export function trpcProbe(base: string, headers: Headers): Request {
  return resolveRequest({ path: `${base}/redline.looks`, headers });
}

export function isTrpc(body: Buffer): boolean {
  const read = parsed(body) as { error?: { code?: number; json?: { code?: number } } } | undefined;
  return (read?.error?.code ?? read?.error?.json?.code) === -32_004;
}

const sources = '{*,*/*,*/*/*,*/*/*/*}.{js,mjs,cjs,ts,mts}';
const maxFiles = 400;
const maxBytes = 200_000;

/**
 * Finds the queries of an app in its sources: tRPC has no list of them. A name that is not a query does no harm: tRPC responds to
 * its GET with 405 and runs nothing.
 */
export function trpcRequests(folder: string, base: string, headers: Headers): Request[] {
  const files = globSync(sources, {
    cwd: folder,
    exclude: (name) => /^(node_modules|\..*|coverage|tests?)$/.test(name),
  });
  const text = files
    .slice(0, maxFiles)
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).size < maxBytes)
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
    .slice(0, 2 * maxNames)
    .map((name) => resolveRequest({ path: `${base}/${name}`, headers }));
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
