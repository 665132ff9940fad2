/** A part of a key or path that is kept: words of letters in one case, and not as many as an encoded id has. */
const word = /^\p{Lu}?\p{Ll}+(?:[-_]\p{Ll}+)*$/u;
const longest = 16;
/** A version, as in `v2`. */
const version = /^v\d{1,2}$/;
const separators = /([:/.|{}])/;

/** Longer keys and paths are cut. */
const maxLength = 200;

/** True for a part that a developer has written: a token has digits, or letters of both cases, or more of them. */
function isWord(part: string): boolean {
  return part.length <= longest && word.test(part);
}

/** Replaces each part of a key or path that is not a plain word with `*`: `user:42:cart` becomes `user:*:cart`. */
export function wordPattern(text: string): string {
  if (text.length > maxLength) {
    // A cut may leave a word of a part that is none.
    const whole = text.slice(0, maxLength).split(separators).slice(0, -1).join('');
    return `${wordPattern(whole)}…`;
  }
  return text
    .split(separators)
    .map((part, index) =>
      index % 2 === 1 || part === '' || isWord(part) || version.test(part) ? part : '*',
    )
    .join('');
}

/** Deeper parts of a filter are left out. */
const maxDepth = 3;
const maxKeys = 8;

interface Command {
  filter?: unknown;
  query?: unknown;
  pipeline?: unknown;
  updates?: unknown;
  deletes?: unknown;
}

/** Returns a command of MongoDB without values: `find orders {userId: ?}`, `aggregate orders [$match {userId: ?}, $group]`. */
export function mongoShape(command: object): string {
  const [name = '', collection] = Object.entries(command)[0] ?? [];
  const { filter, query, pipeline, updates, deletes } = command as Command;
  const [first] = (updates ?? deletes ?? []) as { q?: unknown }[];
  const found = filter ?? query ?? first?.q;
  const parts = [name, typeof collection === 'string' ? collection : ''];
  if (Array.isArray(pipeline)) parts.push(`[${pipeline.map(stageOf).join(', ')}]`);
  else if (found !== undefined) parts.push(shapeOf(found, 0));
  return parts.filter((part) => part !== '').join(' ');
}

function stageOf(stage: unknown): string {
  const [name, value] = Object.entries(stage as object)[0] ?? ['', undefined];
  return name === '$match' ? `$match ${shapeOf(value, 0)}` : name;
}

/** Keeps operators and names of fields, as far as they are words. */
function shapeOf(value: unknown, depth: number): string {
  if (!isPlain(value)) return Array.isArray(value) ? '[…]' : '?';
  if (depth === maxDepth) return '{…}';
  const entries = Object.entries(value);
  const shown = entries
    .slice(0, maxKeys)
    .map(([key, each]) => `${nameOf(key)}: ${partOf(each, depth)}`);
  return `{${[...shown, ...(entries.length > maxKeys ? ['…'] : [])].join(', ')}}`;
}

/** Fields may be named by ids: `carts.64f1c0ff.total` becomes `carts.*.total`. */
function nameOf(key: string): string {
  if (/^\$[a-z]{1,20}$/i.test(key)) return key;
  return key
    .split('.')
    .map((part) => (isWord(part) || isField(part) ? part : '*'))
    .join('.');
}

/** True for `_id`, and for names like `userId`. */
function isField(part: string): boolean {
  return part.length <= 20 && /^_{0,2}[a-z]{2,}(?:[A-Z][a-z]+){0,2}$|^__v$/.test(part);
}

function partOf(value: unknown, depth: number): string {
  if (Array.isArray(value) && value.some(isPlain))
    return `[${value
      .slice(0, maxKeys)
      .map((each) => shapeOf(each, depth + 1))
      .join(', ')}]`;
  return shapeOf(value, depth + 1);
}

function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

// cspell:disable
/** Commands whose first argument is a key. The arguments of all others are left out: they may be passwords, scripts or messages. */
const withKey = new Set(
  `get set setex setnx psetex getset getdel getex mget mset msetnx append incr incrby incrbyfloat decr decrby exists del unlink
  expire expireat pexpire pexpireat ttl pttl persist type dump restore strlen getrange setrange setbit getbit bitcount bitfield bitpos
  hget hset hsetnx hmget hmset hgetall hdel hexists hincrby hincrbyfloat hkeys hlen hscan hstrlen hvals hrandfield hexpire hgetex hgetdel
  lindex linsert llen lmove lpop lpos lpush lpushx lrange lrem lset ltrim rpop rpoplpush rpush rpushx blpop brpop blmove
  sadd scard sdiff sinter sismember smismember smembers smove spop srandmember srem sscan sunion
  zadd zcard zcount zincrby zlexcount zmscore zpopmax zpopmin zrandmember zrange zrangebylex zrangebyscore zrank zrem
  zremrangebylex zremrangebyrank zremrangebyscore zrevrange zrevrangebyscore zrevrank zscan zscore bzpopmin bzpopmax
  xadd xlen xrange xrevrange xdel xtrim xack xpending xclaim xautoclaim geoadd geodist geopos geohash geosearch pfadd pfcount
  json.get json.set json.mget json.del touch`.split(/\s+/),
);
// cspell:enable

/** Returns a command with the pattern of its key: `GET user:*`, `MGET user:*, …`, `EVALSHA`. */
export function redisPattern(name: string, args: readonly unknown[]): string {
  // A client may send any text as a command.
  const command = /^[a-z._]{1,20}$/i.test(name) ? name.toUpperCase() : '*';
  const [key] = args;
  if (!withKey.has(name.toLowerCase()) || key === undefined) return command;
  const more = /^(mget|del|unlink|exists|touch)$/i.test(name) && args.length > 1 ? ', …' : '';
  return `${command} ${wordPattern(textOf(key))}${more}`;
}

function textOf(key: unknown): string {
  return Buffer.isBuffer(key) ? key.toString('latin1') : String(key);
}
