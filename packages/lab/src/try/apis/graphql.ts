import { resolveRequest } from '../../config/resolve-plan.ts';
import type { RequestConfig } from '../../config/types.ts';
import { actionIn } from '../actions.ts';

export const graphqlPaths: readonly string[] = ['/graphql', '/api/graphql', '/query', '/'];

/** Queries only the name of the root type. */
export const anyQuery = '{__typename}';

const typeOfField = 'kind name ofType{kind name ofType{kind name ofType{kind name}}}';
const schemaQuery = `{__schema{queryType{name} types{kind name fields{name args{name defaultValue type{kind}} type{${typeOfField}}}}}}`;

const maxQueries = 8;
/** Max depth of nested fields: deeper queries could read the whole database. */
const depth = 2;

interface TypeRef {
  kind: string;
  name: string | null;
  ofType?: TypeRef | null;
}

interface Field {
  name: string;
  args: { name: string; defaultValue: string | null; type: { kind: string } }[];
  type: TypeRef;
}

interface Schema {
  queryType: { name: string };
  types: { kind: string; name: string; fields: Field[] | null }[];
}

export function queryOf(
  path: string,
  query: string,
  headers: Record<string, string>,
): Required<RequestConfig> {
  return resolveRequest({
    method: 'POST',
    path,
    body: JSON.stringify({ query }),
    headers: { ...headers, 'content-type': 'application/json' },
  });
}

export function schemaRequest(
  path: string,
  headers: Record<string, string>,
): Required<RequestConfig> {
  return queryOf(path, schemaQuery, headers);
}

/** True if the body is a GraphQL response to {@link anyQuery}. */
export function isGraphql(body: Buffer): boolean {
  try {
    const read = JSON.parse(body.toString()) as { data?: { __typename?: unknown } };
    return typeof read.data?.__typename === 'string';
  } catch {
    return false;
  }
}

/** Builds queries from the app's schema, each of one field without required arguments, with the simple fields below it. */
export function queriesIn(body: Buffer): string[] {
  const schema = schemaIn(body);
  if (schema === undefined) return [];
  const types = new Map(schema.types.map((each) => [each.name, each]));
  const fields = types.get(schema.queryType.name)?.fields ?? [];
  return fields
    .filter((each) => needsNothing(each) && actionIn(each.name) === undefined)
    .flatMap((each) => {
      const selection = selectionOf(each.type, types, depth);
      return selection === undefined ? [] : [`{${each.name}${selection}}`];
    })
    .slice(0, maxQueries);
}

function schemaIn(body: Buffer): Schema | undefined {
  try {
    const read = JSON.parse(body.toString()) as { data?: { __schema?: Schema } };
    return read.data?.__schema;
  } catch {
    return undefined;
  }
}

function needsNothing({ args }: Field): boolean {
  return args.every(({ type, defaultValue }) => type.kind !== 'NON_NULL' || defaultValue !== null);
}

/** Returns the selection of a type: empty for scalars and enums, undefined beyond the max depth. */
function selectionOf(
  type: TypeRef,
  types: ReadonlyMap<string, Schema['types'][number]>,
  levels: number,
): string | undefined {
  const { kind, name } = named(type);
  if (kind === 'SCALAR' || kind === 'ENUM') return '';
  if (kind !== 'OBJECT') return '{__typename}';
  if (levels === 0) return undefined;
  const fields = types.get(name ?? '')?.fields ?? [];
  const parts = fields.filter(needsNothing).flatMap((each) => {
    const below = selectionOf(each.type, types, levels - 1);
    return below === undefined ? [] : [`${each.name}${below}`];
  });
  return parts.length === 0 ? '{__typename}' : `{${parts.join(' ')}}`;
}

/** Unwraps lists and non-null types. */
function named(type: TypeRef): TypeRef {
  return type.ofType ? named(type.ofType) : type;
}
