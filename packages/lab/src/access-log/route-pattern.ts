import { LabError } from '../errors.ts';

const numeric = /^-?\d+$/;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const hex = /^(?=.*\d)[0-9a-f]{12,}$/i;
const date = /^\d{4}-\d\d-\d\d$/;
/** Long, with digits and letters: not a name that a route would have. */
const token = /^(?=.*\d)(?=.*[A-Za-z])[\w~-]{20,}$/;

/** Folds paths into routes: ids become `:id`, and patterns given by the user keep their names. */
export class RoutePatterns {
  readonly #named: { pattern: string; expression: RegExp }[];
  readonly #keepQuery: boolean;

  /**
   * @param named e.g. `/users/:name/posts`, `/static/*`; the first match counts.
   * @param options `option`: the option that named them, for the message.
   * @throws {LabError} ERR_REDLINE_OPTION when one does not begin with a slash
   */
  constructor(
    named: readonly string[] = [],
    { keepQuery = false, option = '--group' }: { keepQuery?: boolean; option?: string } = {},
  ) {
    this.#named = named.map((pattern) => ({ pattern, expression: toExpression(pattern, option) }));
    this.#keepQuery = keepQuery;
  }

  routeOf(target: string): string {
    const at = target.indexOf('?');
    const path = at < 0 ? target : target.slice(0, at);
    const query = this.#keepQuery && at >= 0 ? target.slice(at) : '';
    const named = this.#named.find(({ expression }) => expression.test(path));
    return (named?.pattern ?? fold(path)) + query;
  }
}

function fold(path: string): string {
  // Every segment that is folded has a digit, except a UUID of letters alone, one in a million million.
  if (!/\d/.test(path)) return path;
  return path
    .split('/')
    .map((segment) => {
      if (numeric.test(segment)) return ':id';
      if (uuid.test(segment)) return ':uuid';
      if (date.test(segment)) return ':date';
      if (hex.test(segment)) return ':hash';
      return token.test(segment) ? ':token' : segment;
    })
    .join('/');
}

function toExpression(pattern: string, option: string): RegExp {
  if (!pattern.startsWith('/')) {
    throw new LabError(
      'ERR_REDLINE_OPTION',
      `${option} names "${pattern}", which does not begin with "/"; write it like /users/:name.`,
    );
  }
  const source = pattern
    .split('/')
    .map((segment) => {
      if (segment === '*') return '.*';
      if (segment.startsWith(':')) return '[^/]+';
      return segment.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
    })
    .join('/');
  return new RegExp(`^${source}$`);
}
