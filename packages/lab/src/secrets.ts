/** Replaces secrets in results, pages and messages. */
const mask = '***';

const headers =
  /^(-H|--header[= ])?((?:proxy-)?authorization|(?:set-)?cookie|[\w-]*(?:token|api-?key|secret|session|csrf)[\w-]*)\s*:\s*.+$/i;
const named =
  /((?:^|[\s?&;,{"'_-])(?:[\w-]*(?:token|api[_-]?key|secret|passw(?:or)?d|signature|credential|private[_-]?key)[\w-]*|pwd|sig|auth|jwt|sid|session(?:id)?)=)("[^"]*"|'[^']*'|[^\s&;,"'<>]+)/gi;
const schemes = /\b(Bearer|Basic|Token|Digest) +[\w.~+/=:-]{6,}/gi;
const jsonWebToken = /\beyJ[\w-]{6,}\.[\w-]+(?:\.[\w-]*)?/g;
const userInfo = /(:\/\/[^\s/:@]*):[^\s/"'<>]+@/g;
/** Keys of well-known services, recognised by their prefix. */
const known =
  /\b(?:sk|pk|rk)_(?:live|test)_\w{8,}|\bgh[pousr]_\w{16,}|\bxox[abprs]-[\w-]{10,}|\bAKIA[A-Z\d]{16}\b/g;

/** Masks everything that looks like a password, a token or a cookie. Names stay, so that a reader knows what was sent. */
export function maskSecrets(text: string): string {
  return text
    .replace(
      headers,
      (_, option: string | undefined, name: string) => `${option ?? ''}${name}: ${mask}`,
    )
    .replaceAll(named, `$1${mask}`)
    .replaceAll(schemes, `$1 ${mask}`)
    .replaceAll(jsonWebToken, mask)
    .replaceAll(userInfo, `$1:${mask}@`)
    .replaceAll(known, mask);
}

/** Masks the secrets in every string of a result, at any depth. */
export function withoutSecrets<Value>(value: Value): Value {
  if (typeof value === 'string') return maskSecrets(value) as Value;
  if (Array.isArray(value)) return value.map((each: unknown) => withoutSecrets(each)) as Value;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, each]) => [key, withoutSecrets(each)]);
  return Object.fromEntries(entries) as Value;
}

/** Returns the command line for a result, with its secrets masked. */
export function invocation(): string {
  const words = process.argv.slice(2);
  return ['redline', ...words.map((word, at) => maskOption(word, words[at - 1]))].join(' ');
}

/** Masks the value of a variable for a container, of a database and of a login. */
function maskOption(word: string, before: string | undefined): string {
  const [, option = '', url = word] = /^(--database=)(.*)$/s.exec(word) ?? [];
  if (option !== '' || before === '--database')
    return `${option}${databaseWithoutLogin(url) ?? mask}`;
  const [, name] = /^((?:--env=)?\w+=)./s.exec(word) ?? [];
  const isVariable = name !== undefined && (before === '--env' || word.startsWith('--env='));
  return isVariable ? `${name}${mask}` : maskLogin(word, before);
}

/** Masks the whole body of a login request, whatever its fields are called. */
function maskLogin(word: string, before: string | undefined): string {
  const [, option = '', request = word] = /^(--login=)(.*)$/s.exec(word) ?? [];
  if (option === '' && before !== '--login') return maskSecrets(word);
  const [start = ''] = /^\s*\S+\s+\S+/.exec(request) ?? [];
  return `${option}${maskSecrets(start)}${start === request ? '' : ` ${mask}`}`;
}

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
