import { resolveRequest } from '../../config/resolve-plan.ts';
import type { RequestConfig } from '../../config/types.ts';
import { actionIn } from '../actions.ts';

/** Paths at which frameworks and their plugins serve a description: FastAPI's convention, Nest's Swagger, Fastify's, Spring's. */
export const openApiPaths: readonly string[] = [
  '/openapi.json',
  '/api-json',
  '/api/openapi.json',
  '/docs/json',
  '/documentation/json',
  '/swagger.json',
  '/docs-json',
  '/swagger-json',
  '/api-docs',
  '/v3/api-docs',
];

interface Parameter {
  name?: string;
  in?: string;
  required?: boolean;
  example?: unknown;
  examples?: Record<string, { value?: unknown }>;
  schema?: Schema;
  /** Swagger 2 has no schema object in parameters. */
  default?: unknown;
  enum?: unknown[];
  $ref?: string;
}

interface Schema {
  example?: unknown;
  examples?: unknown[];
  default?: unknown;
  enum?: unknown[];
  $ref?: string;
}

interface Description {
  openapi?: string;
  swagger?: string;
  basePath?: string;
  servers?: { url?: string }[];
  paths?: Record<string, { parameters?: Parameter[]; get?: { parameters?: Parameter[] } }>;
}

/**
 * Returns the GET operations of a description, with its examples and defaults for their parameters. Operations that look like
 * actions are left out, as are those that require an unknown value.
 * @returns undefined if the body is not a description
 */
export function openApiRequests(
  body: Buffer,
  headers: Record<string, string>,
): Required<RequestConfig>[] | undefined {
  const read = parsed(body);
  if (read?.paths === undefined || (read.openapi ?? read.swagger) === undefined) return undefined;
  const prefix = prefixOf(read);
  return Object.entries(read.paths).flatMap(([path, item]) => {
    if (item?.get === undefined || actionIn(path) !== undefined) return [];
    const given = [...(item.parameters ?? []), ...(item.get.parameters ?? [])];
    const filled = fill(
      prefix + path,
      given.map((each) => resolved(each, read)),
    );
    return filled === undefined ? [] : [resolveRequest({ path: filled, headers })];
  });
}

function parsed(body: Buffer): Description | undefined {
  try {
    const read: unknown = JSON.parse(body.toString());
    return typeof read === 'object' && read !== null ? (read as Description) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the path prefix of the first server: the others are other machines. */
function prefixOf({ servers, basePath }: Description): string {
  const url = servers?.[0]?.url ?? basePath ?? '';
  const { pathname } = new URL(URL.canParse(url, 'http://app/') ? url : '', 'http://app/');
  return pathname.replace(/\/$/, '').replaceAll(/%7B|%7D/gi, '');
}

/** Fills in every required parameter. */
function fill(path: string, parameters: readonly Parameter[]): string | undefined {
  let filled = path;
  const query = new URLSearchParams();
  for (const parameter of parameters) {
    const { name = '', in: place, required } = parameter;
    const value = valueOf(parameter);
    if (place === 'path') {
      if (value === undefined) return undefined;
      filled = filled.replaceAll(`{${name}}`, encodeURIComponent(value));
    } else if (required === true) {
      if (place !== 'query' || value === undefined) return undefined;
      query.set(name, value);
    }
  }
  if (/[{}]/.test(filled)) return undefined;
  return query.size === 0 ? filled : `${filled}?${query.toString()}`;
}

function valueOf({ example, examples, schema, ...old }: Parameter): string | undefined {
  const [first] = Object.values(examples ?? {});
  const values = [
    example,
    first?.value,
    schema?.example,
    schema?.examples?.[0],
    schema?.default,
    schema?.enum?.[0],
    old.default,
    old.enum?.[0],
  ];
  const value = values.find((each) => ['string', 'number', 'boolean'].includes(typeof each));
  return value === undefined ? undefined : String(value);
}

function resolved(parameter: Parameter, description: Description): Parameter {
  const whole = follow(parameter, description);
  return whole.schema === undefined
    ? whole
    : { ...whole, schema: follow(whole.schema, description) };
}

function follow<Node extends { $ref?: string }>(node: Node, description: Description): Node {
  if (node.$ref?.startsWith('#/') !== true) return node;
  const keys = node.$ref.slice(2).split('/');
  const found = keys.reduce<unknown>(
    (at, key) => (at as Record<string, unknown> | undefined)?.[key.replaceAll('~1', '/')],
    description,
  );
  return (found as Node | undefined) ?? node;
}
