import type { RequestConfig } from '../../config/types.ts';
import type { Endpoint } from '../../load/endpoint.ts';
import { type Answer, send } from '../../servers/contract.ts';
import { anyQuery, graphqlPaths, isGraphql, queriesIn, queryOf, schemaRequest } from './graphql.ts';
import { openApiPaths, openApiRequests } from './openapi.ts';
import {
  isMcp,
  isTrpc,
  mcpInitialize,
  mcpPaths,
  mcpRequests,
  rpcDescriptionRequests,
  rpcPaths,
  rpcRequests,
  rpcResult,
  trpcPaths,
  trpcProbe,
  trpcRequests,
} from './rpc.ts';

/** Read-only requests from an app's own description. */
export interface Described {
  requests: Required<RequestConfig>[];
  /** Source for display: `GET /openapi.json`. */
  by: string;
  /** Starts the session that the requests belong to. */
  login?: Required<RequestConfig>;
}

const patienceMs = 2_000;

/** Lists the requests that look for a description, for the first screen. */
export const descriptionRequestsText: string = `GET ${openApiPaths.slice(0, 4).join(' ')} and the like, POST ${anyQuery} to ${graphqlPaths.join(' ')}, GET of an unknown procedure of tRPC, initialize of MCP at ${mcpPaths.join(' ')}, and rpc.discover of JSON-RPC at ${rpcPaths.join(' ')}`;

type Ask = (request: Required<RequestConfig>) => Promise<Answer | undefined>;

interface Asked {
  ask: Ask;
  headers: Record<string, string>;
  /** Folder of the app. */
  folder: string;
}

/** Reads an app's own description when none of its routes succeeds; undefined if it has none. */
export async function describedRequests(
  endpoint: Endpoint,
  { headers, folder, signal }: Pick<Asked, 'headers' | 'folder'> & { signal: AbortSignal },
): Promise<Described | undefined> {
  const ask: Ask = async (request) => {
    signal.throwIfAborted();
    return send(endpoint, request, { timeoutMs: patienceMs, signal }).catch(() => undefined);
  };
  for (const find of [ofOpenApi, ofGraphql, ofTrpc, ofMcp, ofJsonRpc]) {
    const found = await find({ ask, headers, folder });
    if (found !== undefined && found.requests.length > 0) return found;
  }
  return undefined;
}

async function ofOpenApi({ ask, headers }: Asked): Promise<Described | undefined> {
  const get = { method: 'GET', headers, body: '', compare: 'body', timed: true } as const;
  for (const path of openApiPaths) {
    const body = bodyOf(await ask({ ...get, path }));
    const requests = body && openApiRequests(body, headers);
    if (requests !== undefined && requests.length > 0) return { requests, by: `GET ${path}` };
  }
  return undefined;
}

async function ofGraphql({ ask, headers }: Asked): Promise<Described | undefined> {
  for (const path of graphqlPaths) {
    const any = queryOf(path, anyQuery, headers);
    const body = bodyOf(await ask(any));
    if (body === undefined || !isGraphql(body)) continue;
    // Many apps disable introspection in production.
    const schema = bodyOf(await ask(schemaRequest(path, headers)));
    const queries = schema === undefined ? [] : queriesIn(schema);
    const requests = queries.map((query) => queryOf(path, query, headers));
    return {
      requests: requests.length > 0 ? requests : [any],
      by: `the GraphQL schema of ${path}`,
    };
  }
  return undefined;
}

async function ofTrpc({ ask, headers, folder }: Asked): Promise<Described | undefined> {
  for (const base of trpcPaths) {
    const answer = await ask(trpcProbe(base, headers));
    if (answer === undefined || !isTrpc(answer.body)) continue;
    const requests = trpcRequests(folder, base, headers);
    return { requests, by: `the code, for tRPC at ${base === '' ? '/' : base},` };
  }
  return undefined;
}

async function ofMcp({ ask, headers }: Asked): Promise<Described | undefined> {
  for (const path of mcpPaths) {
    const login = mcpInitialize(path, headers);
    const answer = await ask(login);
    if (answer?.status !== 200 || !isMcp(answer.body)) continue;
    return {
      requests: mcpRequests(path, headers),
      by: `the Model Context Protocol at ${path}`,
      ...(answer.mcpSession !== undefined && { login }),
    };
  }
  return undefined;
}

async function ofJsonRpc({ ask, headers }: Asked): Promise<Described | undefined> {
  for (const path of rpcPaths) {
    for (const request of rpcDescriptionRequests(path, headers)) {
      const body = bodyOf(await ask(request));
      const result = body && rpcResult(body);
      if (result === undefined) break;
      if (result === null) continue;
      return { requests: rpcRequests(request, result, headers), by: `JSON-RPC at ${path}` };
    }
  }
  return undefined;
}

function bodyOf(answer: Answer | undefined): Buffer | undefined {
  return answer?.status === 200 ? answer.body : undefined;
}
