/** The request headers, besides `Cookie`, that identify the caller. */
export const credentialHeaders: readonly string[] = [
  'authorization',
  'proxy-authorization',
  'x-api-key',
  'api-key',
  'x-auth-token',
  'x-access-token',
  'x-tenant-id',
  'x-user-id',
];
