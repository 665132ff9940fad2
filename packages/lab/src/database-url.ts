/**
 * Returns scheme, host and name of a database, without user, password and options.
 * @returns undefined if the text is not a URL, or one whose password may be a part of its path
 */
export function databaseWithoutLogin(text: string): string | undefined {
  // A login without a host: the driver takes its own.
  const url = text.replace('@/', '@localhost/');
  if (!/^[A-Za-z]+:\/\//.test(url) || !URL.canParse(url)) return undefined;
  const { protocol, host, pathname, search, hash } = new URL(url);
  // A `/`, `?` or `#` in a password ends the host before it.
  if (`${pathname}${search}${hash}`.includes('@')) return undefined;
  return `${protocol}//${host}${pathname}`;
}
