/** Where guards, Passport, sessions and middleware put who is asking. */
interface Named {
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

/** Whether something has found out who is asking, and put that on the request. */
export function namesCaller(request: object): boolean {
  if (isNamedOn(request)) return true;
  // Nest's middleware gets Node's own request on Fastify. Express keeps what is for templates on the response.
  const { raw, res } = request as { raw?: object; res?: { locals?: object } };
  if (raw !== undefined && isNamedOn(raw)) return true;
  return res?.locals !== undefined && isAmong(res.locals);
}

/* One by one: looked up in a loop, what is mostly absent costs a tenth of a hit. */
function isNamedOn(request: Named): boolean {
  return (
    isSomebody(request.user) ||
    isSomebody(request.currentUser) ||
    isSomebody(request.userId) ||
    isSomebody(request.auth) ||
    isSomebody(request.authInfo) ||
    isSomebody(request.account) ||
    isSomebody(request.accountId) ||
    isSomebody(request.principal) ||
    isSomebody(request.identity) ||
    isSomebody(request.claims) ||
    isSomebody(request.tenant) ||
    isSomebody(request.tenantId) ||
    isSomebody(request.apiKey) ||
    isSomebody(request.token) ||
    isFilled(request.session) ||
    isChosen(request)
  );
}

/** Whether a property of this name counts as a caller wherever it is found. */
export function namesCallerAs(property: string): boolean {
  return names.has(property) || property === 'session';
}

/** Whether a property says anything. */
export function carriedBy(value: unknown): boolean {
  return isSomebody(value);
}

/* Frameworks have the property on every request where a plugin declares it: null, false or an empty text. */
function isSomebody(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== '';
}

function isChosen(request: Named): boolean {
  const { _userProperty: property } = request;
  return typeof property === 'string' && isSomebody((request as Record<string, unknown>)[property]);
}

/* A session that was just created, for whoever it is, holds its cookie alone. */
function isFilled(session: unknown): boolean {
  if (typeof session !== 'object' || session === null) return isSomebody(session);
  return Object.entries(session).some(
    ([name, value]) => name !== 'cookie' && typeof value !== 'function' && isSomebody(value),
  );
}

function isAmong(locals: object): boolean {
  for (const name in locals) {
    if (names.has(name) && isSomebody((locals as Record<string, unknown>)[name])) return true;
  }
  return false;
}
