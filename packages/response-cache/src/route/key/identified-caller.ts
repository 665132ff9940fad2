/** The properties in which guards, Passport, sessions and middleware put the caller. */
interface CallerProperties {
  readonly user?: unknown;
  readonly currentUser?: unknown;
  readonly userId?: unknown;
  readonly auth?: unknown;
  readonly authInfo?: unknown;
  readonly account?: unknown;
  readonly accountId?: unknown;
  readonly principal?: unknown;
  readonly identity?: unknown;
  readonly claims?: unknown;
  readonly tenant?: unknown;
  readonly tenantId?: unknown;
  readonly apiKey?: unknown;
  readonly token?: unknown;
  readonly session?: unknown;
  /** The `userProperty` of Passport, if the app has chosen one. */
  readonly _userProperty?: unknown;
}

const names: ReadonlySet<string> = new Set([
  'user',
  'currentUser',
  'userId',
  'auth',
  'authInfo',
  'account',
  'accountId',
  'principal',
  'identity',
  'claims',
  'tenant',
  'tenantId',
  'apiKey',
  'token',
]);

/** Returns true if something has identified the caller and put it on the request. */
export function hasIdentifiedCaller(request: object): boolean {
  if (hasCallerOn(request)) return true;
  // On Fastify, Nest's middleware gets Node's own request. Express keeps the data of templates on the response.
  const { raw, res } = request as { raw?: object; res?: { locals?: object } };
  if (raw !== undefined && hasCallerOn(raw)) return true;
  return res?.locals !== undefined && isInLocals(res.locals);
}

/* Checks one by one: looking up properties that are mostly absent in a loop costs a tenth of a hit. */
function hasCallerOn(request: CallerProperties): boolean {
  return (
    hasValue(request.user) ||
    hasValue(request.currentUser) ||
    hasValue(request.userId) ||
    hasValue(request.auth) ||
    hasValue(request.authInfo) ||
    hasValue(request.account) ||
    hasValue(request.accountId) ||
    hasValue(request.principal) ||
    hasValue(request.identity) ||
    hasValue(request.claims) ||
    hasValue(request.tenant) ||
    hasValue(request.tenantId) ||
    hasValue(request.apiKey) ||
    hasValue(request.token) ||
    isFilledSession(request.session) ||
    hasUserProperty(request)
  );
}

/** Returns true if a property of this name counts as a caller on any object. */
export function isCallerProperty(property: string): boolean {
  return names.has(property) || property === 'session';
}

/**
 * Returns true for a value that carries information. If a plugin declares a property, frameworks have it on every request: null,
 * false or an empty text.
 */
export function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== '';
}

function hasUserProperty(request: CallerProperties): boolean {
  const { _userProperty: property } = request;
  return typeof property === 'string' && hasValue((request as Record<string, unknown>)[property]);
}

/* A session that was just created, for any caller, holds only its cookie. */
function isFilledSession(session: unknown): boolean {
  if (typeof session !== 'object' || session === null) return hasValue(session);
  return Object.entries(session).some(
    ([name, value]) => name !== 'cookie' && typeof value !== 'function' && hasValue(value),
  );
}

function isInLocals(locals: object): boolean {
  for (const name in locals) {
    if (names.has(name) && hasValue((locals as Record<string, unknown>)[name])) return true;
  }
  return false;
}
