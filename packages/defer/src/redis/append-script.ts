import { nextRecord } from './packed-records.ts';

/**
 * Appends many entries to one stream in one call: with a command for each, the client alone costs 8 µs an entry, with
 * this 1 µs. It stops at the first entry that the server refuses, so that order holds.
 *
 * KEYS: the stream. ARGV: the bound or '', then for each run of jobs of one kind: their name, the number of further words
 * that all of them share, those words, and the packed records. Returns how many were appended and, if one was refused,
 * the reason.
 */
export const appendScript: string = `
local call, find, sub, stream, at, count = redis.pcall, string.find, string.sub, KEYS[1], 2, 0
while at <= #ARGV do
  local job, last = ARGV[at], at + 1 + ARGV[at + 1]
  local more, text, from, answer = last > at + 1, ARGV[last + 1], 1
  while from <= #text do
    ${nextRecord}
    if more then
      answer = call('XADD', stream, '*', 'defer-id', id, 'defer-job', job, 'defer-at', time, 'data', data,
        unpack(ARGV, at + 2, last))
    else
      answer = call('XADD', stream, '*', 'defer-id', id, 'defer-job', job, 'defer-at', time, 'data', data)
    end
    if type(answer) == 'table' and answer.err then return {count, answer.err} end
    count = count + 1
  end
  at = last + 2
end
if ARGV[1] ~= '' then call('XTRIM', stream, 'MAXLEN', '~', ARGV[1]) end
return {count}
`;
