// cspell:disable
import { wordPattern } from './word-pattern.ts';

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
