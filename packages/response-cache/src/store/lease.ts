/**
 * The right of one process to make the value under a key. Deleting the key revokes it: a value made from older data is then not
 * kept.
 */
export interface Lease {
  /** Keeps `raw` for `ttl` milliseconds; resolves to false if the lease was revoked or has expired. */
  keep(raw: string, ttl: number): Promise<boolean>;
  /** Lets the next process make the value. */
  release(): Promise<unknown>;
}

/* Time a killed process holds up the others, in milliseconds. */
export const leaseMs = 1_000;
const renewEveryMs = 300;
/* Limits the time for which a producer that never settles holds up the others. */
const maxRenewals = 100;
const leaseMark = '\u0001lease:';

export const isLease = (raw: string): boolean => raw.startsWith(leaseMark);
export const leaseToken = (): string => leaseMark + crypto.randomUUID();

/*
 * KEYS: the key. ARGV: the action, the end of the value that must be there, then a value and its lifetime. A seal or a token is
 * the end of exactly one value, so the text itself need not be sent.
 */
export const leaseScript = `
local now = redis.pcall('GET', KEYS[1])
-- A list or the like, which is not a value for us.
if type(now) == 'table' then now = false end
local isThere = now and string.sub(now, -#ARGV[2]) == ARGV[2]
if ARGV[1] == 'take' then
  -- One without an end, or with a later one than any lease of ours, would hold up everybody.
  local isStuck = false
  if now and string.sub(now, 1, 7) == '\\1lease:' then
    local left = redis.call('PTTL', KEYS[1])
    isStuck = left < 0 or left > tonumber(ARGV[4])
  end
  if not now or now == '' or isStuck or (ARGV[2] ~= '' and isThere) then redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4]) end
  return 1
end
if not isThere then return 0 end
if ARGV[1] == 'keep' then redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4])
elseif ARGV[1] == 'renew' then redis.call('PEXPIRE', KEYS[1], ARGV[4])
else redis.call('DEL', KEYS[1]) end
return 1`;

/** Runs {@link leaseScript} on one key. */
export type RunOnKey = (
  what: 'keep' | 'renew' | 'release',
  token: string,
  raw: string,
  ttl: number,
) => Promise<boolean>;

/** A lease that is renewed while this process and its Redis run. */
export class HeldLease implements Lease {
  readonly #token: string;
  readonly #run: RunOnKey;
  readonly #timer: NodeJS.Timeout;

  constructor(token: string, run: RunOnKey) {
    this.#token = token;
    this.#run = run;
    let left = maxRenewals;
    this.#timer = setInterval(() => {
      if ((left -= 1) === 0) clearInterval(this.#timer);
      this.#run('renew', token, '', leaseMs).catch(() => {});
    }, renewEveryMs);
    this.#timer.unref();
  }

  keep(raw: string, ttl: number): Promise<boolean> {
    clearInterval(this.#timer);
    return this.#run('keep', this.#token, raw, ttl);
  }

  release(): Promise<unknown> {
    clearInterval(this.#timer);
    return this.#run('release', this.#token, '', 1);
  }
}
