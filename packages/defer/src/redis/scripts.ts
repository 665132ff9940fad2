/** Follows each field. Neither an id, nor a number, nor JSON, which escapes it, contains this character. */
const fieldEnd = '\x1e';

/**
 * Packs id, time and data of many jobs into one argument of a script. An argument for each field costs the client a string
 * for its length and three more to assemble the command, which is most of what a job then costs it.
 */
export class PackedRecords {
  readonly #fields: (string | number)[] = [];

  add(id: string, deferredAtMs: number, json: string): void {
    this.#fields.push(id, deferredAtMs, json);
  }

  toString(): string {
    return this.#fields.join(fieldEnd) + fieldEnd;
  }
}

/** Lua that reads `id`, `time` and `data` of the next record of `text` from `from` on, and moves `from` past it. */
export const nextRecord: string = `
    local first = find(text, '\\30', from, true)
    local second = find(text, '\\30', first + 1, true)
    local third = find(text, '\\30', second + 1, true)
    local id, time, data = sub(text, from, first - 1), sub(text, first + 1, second - 1), sub(text, second + 1, third - 1)
    from = third + 1`;

/** Versions whose own writes, and workers, the lane's writes were compared with, field by field. Others go through `addBulk`. */
export const testedBullMQ: ReadonlySet<string> = new Set(['6.5.4', '6.7.0']);

/**
 * Writes a batch of plain jobs in one call, as BullMQ itself writes one: its `addBulk` is a script call for each.
 * A job whose id already exists is left unchanged, and an event reports it. Numbers stay text on their way to Redis: Lua
 * would print one with seventeen digits.
 *
 * KEYS: wait, meta, id, active, events, marker. ARGV: the key prefix, then for each run of jobs of one kind: their name,
 * the options as JSON without the opening `{"jobId":"…","timestamp":…`, and the packed records. Ids contain no character
 * that JSON would escape. Returns how many were new.
 */
export const laneScript: string = `
local call, find, sub, prefix, events = redis.call, string.find, string.sub, ARGV[1], KEYS[5]
local meta = call('HMGET', KEYS[2], 'opts.maxLenEvents', 'paused', 'concurrency')
local bound = meta[1]
if not bound then
  bound = '10000'
  call('HSET', KEYS[2], 'opts.maxLenEvents', bound)
end
local fresh, count, all = {}, 0, 0
for at = 2, #ARGV, 3 do
  local name, options, text, from = ARGV[at], ARGV[at + 1], ARGV[at + 2], 1
  while from <= #text do
    ${nextRecord}
    local key = prefix .. id
    all = all + 1
    if call('EXISTS', key) == 1 then
      call('XADD', events, '*', 'event', 'duplicated', 'jobId', id)
    else
      call('HSET', key, 'name', name, 'data', data, 'opts', '{"jobId":"' .. id .. '","timestamp":' .. time .. options,
        'timestamp', time, 'delay', '0', 'priority', '0')
      call('XADD', events, '*', 'event', 'added', 'jobId', id, 'name', name)
      call('XADD', events, '*', 'event', 'waiting', 'jobId', id)
      count = count + 1
      fresh[count] = id
    end
  end
end
call('XTRIM', events, 'MAXLEN', '~', bound)
call('INCRBY', KEYS[3], all)
for from = 1, count, 1000 do
  call('LPUSH', KEYS[1], unpack(fresh, from, math.min(from + 999, count)))
end
if count > 0 and not meta[2] and not (meta[3] and call('LLEN', KEYS[4]) >= tonumber(meta[3])) then
  call('ZADD', KEYS[6], 0, '0')
end
return count
`;
