import type { RequestConfig } from '../../config/types.ts';
import type { Endpoint } from '../../load/endpoint.ts';
import { send } from '../../servers/contract.ts';
import { anyQuery, graphqlPaths, isGraphql, queriesIn, queryOf, schemaRequest } from './graphql.ts';
import { openApiPaths, openApiRequests } from './openapi.ts';

/** Requests that only read, as an app describes them itself. */
export interface Described {
  requests: Required<RequestConfig>[];
  /** Where, for people: `GET /openapi.json`. */
  by: string;
}

const patienceMs = 2_000;

/** What is requested to find a description, for the first screen. */
export const looksFor: string = `GET ${openApiPaths.slice(0, 4).join(' ')} and the like, then POST ${anyQuery} to ${graphqlPaths.join(' ')}`;

/** Where no route answers, what the app says of itself; undefined where it says nothing. */
export async function describedRequests(
  endpoint: Endpoint,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<Described | undefined> {
  const ask = async (request: Required<RequestConfig>): Promise<Buffer | undefined> => {
    signal.throwIfAborted();
    const answer = await send(endpoint, request, { timeoutMs: patienceMs }).catch(() => undefined);
    return answer?.status === 200 ? answer.body : undefined;
  };
  const get = { method: 'GET', headers, body: '', compare: 'body', timed: true } as const;
  for (const path of openApiPaths) {
    const body = await ask({ ...get, path });
    const requests = body && openApiRequests(body, headers);
    if (requests !== undefined && requests.length > 0) return { requests, by: `GET ${path}` };
  }
  for (const path of graphqlPaths) {
    const any = queryOf(path, anyQuery, headers);
    const body = await ask(any);
    if (body === undefined || !isGraphql(body)) continue;
    // Many apps hide their schema in production.
    const schema = await ask(schemaRequest(path, headers));
    const queries = schema === undefined ? [] : queriesIn(schema);
    const requests = queries.map((query) => queryOf(path, query, headers));
    return {
      requests: requests.length > 0 ? requests : [any],
      by: `the GraphQL schema of ${path}`,
    };
  }
  return undefined;
}
