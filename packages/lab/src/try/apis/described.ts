import type { RequestConfig } from '../../config/types.ts';
import type { Endpoint } from '../../load/endpoint.ts';
import { type Answer, send } from '../../servers/contract.ts';
import { anyQuery, graphqlPaths, isGraphql, queriesIn, queryOf, schemaRequest } from './graphql.ts';
import { openApiPaths, openApiRequests } from './openapi.ts';
import {
  isMcp,
  isTrpc,
  mcpGreeting,
  mcpPaths,
  mcpRequests,
  rpcLooks,
  rpcPaths,
  rpcRequests,
  rpcResult,
  trpcLook,
  trpcPaths,
  trpcRequests,
} from './rpc.ts';

/** Requests that only read, as an app describes them itself. */
export interface Described {
  requests: Required<RequestConfig>[];
  /** Where, for people: `GET /openapi.json`. */
  by: string;
  /** Begins the session that they belong to. */
  login?: Required<RequestConfig>;
}

const patienceMs = 2_000;

/** What is requested to find a description, for the first screen. */
export const looksFor: string = `GET ${openApiPaths.slice(0, 4).join(' ')} and the like, POST ${anyQuery} to ${graphqlPaths.join(' ')}, GET of an unknown procedure of tRPC, initialize of MCP at ${mcpPaths.join(' ')}, and rpc.discover of JSON-RPC at ${rpcPaths.join(' ')}`;

type Ask = (request: Required<RequestConfig>) => Promise<Answer | undefined>;

interface Asked {
  ask: Ask;
  headers: Record<string, string>;
  /** Of the app. */
  folder: string;
}

/** Where no route answers, what the app says of itself; undefined where it says nothing. */
export async function describedRequests(
  endpoint: Endpoint,
  { headers, folder, signal }: Pick<Asked, 'headers' | 'folder'> & { signal: AbortSignal },
): Promise<Described | undefined> {
  const ask: Ask = async (request) => {
    signal.throwIfAborted();
    return send(endpoint, request, { timeoutMs: patienceMs, signal }).catch(() => undefined);
  };
  for (const look of [ofOpenApi, ofGraphql, ofTrpc, ofMcp, ofJsonRpc]) {
    const found = await look({ ask, headers, folder });
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
    // Many apps hide their schema in production.
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
    const answer = await ask(trpcLook(base, headers));
    if (answer === undefined || !isTrpc(answer.body)) continue;
    const requests = trpcRequests(folder, base, headers);
    return { requests, by: `the code, for tRPC at ${base === '' ? '/' : base},` };
  }
  return undefined;
}

async function ofMcp({ ask, headers }: Asked): Promise<Described | undefined> {
  for (const path of mcpPaths) {
    const login = mcpGreeting(path, headers);
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
    for (const look of rpcLooks(path, headers)) {
      const body = bodyOf(await ask(look));
      const result = body && rpcResult(body);
      if (result === undefined) break;
      if (result === null) continue;
      return { requests: rpcRequests(look, result, headers), by: `JSON-RPC at ${path}` };
    }
  }
  return undefined;
}

function bodyOf(answer: Answer | undefined): Buffer | undefined {
  return answer?.status === 200 ? answer.body : undefined;
}
