/** The request headers, beside `Cookie`, that show who is asking. */
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
