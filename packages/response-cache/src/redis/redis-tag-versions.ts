import { type RedisCommands, redisName } from './redis-client.ts';
import type { RedisReads } from './redis-reads.ts';
import type { TagVersions, Versions } from '../store/tag-versions.ts';

/*
 * KEYS: the clock, tags. ARGV: 'drop' or 'open', the lifetime of a tag in milliseconds. The clock starts from the time, so that
 * an evicted clock continues above all versions it has given. Any other content of a key counts as missing, and is replaced: a
 * value that is not a number, or is a year ahead of the time.
 */
const script = `
local time = redis.call('TIME')
local micros = time[1] * 1000000 + time[2]
local function read(key)
  local text = redis.pcall('GET', key)
  if type(text) ~= 'string' or not string.find(text, '^%d+$') then return nil end
  local number = tonumber(text)
  if number == 0 or number > micros + 31536000000000 then return nil end
  return number, text
end
local clock = read(KEYS[1]) or 0
if ARGV[1] == 'drop' or clock == 0 then
  clock = math.max(clock + 1, micros)
  redis.call('SET', KEYS[1], string.format('%.0f', clock))
end
local now = string.format('%.0f', clock)
local versions = { now }
for i = 2, #KEYS do
  local number, version
  if ARGV[1] == 'open' then number, version = read(KEYS[i]) end
  if version then
    -- A clock behind a version would have what is tagged with it refused each time.
    if number > clock then
      clock = number
      redis.call('SET', KEYS[1], string.format('%.0f', clock))
    end
    -- Not each time: to whoever tracks the key that is a change.
    if redis.call('PTTL', KEYS[i]) < ARGV[2] / 2 then redis.call('PEXPIRE', KEYS[i], ARGV[2]) end
  else
    version = now
    redis.call('SET', KEYS[i], now, 'PX', ARGV[2])
  end
  versions[i] = version
end
return versions`;

/* A tag that is unused for this long is forgotten, together with the values stored with it. */
const tagLifetimeMs = '604800000';

/** Keeps one key for each tag, and no lists of tagged values: nothing grows, and an invalidation takes one step for each tag. */
export class RedisTagVersions implements TagVersions {
  readonly #client: RedisCommands;
  readonly #prefix: string;
  readonly #reads: RedisReads;
  /* A hit usually comes with the list of the previous one: joining and hashing its keys costs more than looking them up. */
  readonly #keys = new WeakMap<readonly string[], readonly string[]>();

  constructor(client: RedisCommands, reads: RedisReads, keyPrefix: string) {
    this.#client = client;
    this.#reads = reads;
    // In one slot of a cluster, for the script; the brace keeps them apart from the values.
    this.#prefix = `{${keyPrefix}tags}`;
  }

  async ticket(): Promise<number> {
    const [now] = await this.#run('open', []);
    return now!;
  }

  read(tags: readonly string[]): Promise<Versions> {
    return this.#reads.getMany(tags, this.#keysOf, toVersions);
  }

  async open(tags: readonly string[]): Promise<readonly number[]> {
    return (await this.#run('open', tags)).slice(1);
  }

  async invalidate(tags: readonly string[]): Promise<void> {
    await this.#run('drop', tags);
  }

  /** Returns the key in Redis under which the version of `tag` is stored. */
  fullKeyOf(tag: string): string {
    return this.#client.keyPrefix + this.#keyOf(tag);
  }

  readonly #keysOf = (tags: readonly string[]): readonly string[] => {
    const known = this.#keys.get(tags);
    if (known !== undefined) return known;
    const keys = tags.map((tag) => this.#keyOf(tag));
    this.#keys.set(tags, keys);
    return keys;
  };

  #keyOf(tag: string): string {
    return `${this.#prefix}:${redisName(tag)}`;
  }

  async #run(what: 'open' | 'drop', tags: readonly string[]): Promise<number[]> {
    this.#client.requireReady();
    const keys = [`${this.#prefix}clock`, ...tags.map((tag) => this.#keyOf(tag))];
    const versions = await this.#client.script(script, keys, [what, tagLifetimeMs]);
    return (versions as string[]).map(Number);
  }
}

function toVersions(values: readonly (string | null)[]): Versions {
  return values.map((each) => (each === null ? undefined : Number(each)));
}
