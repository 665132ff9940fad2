/**
 * Appends many entries to one stream in one call: with a command for each, the client alone costs 8 µs an entry, with
 * this 1 µs. It stops at the first entry the server refuses, so that order holds.
 *
 * KEYS: the stream. ARGV: the bound or '', then for each entry its id, job, time, data, how many more words there are,
 * and those. Returns how many were appended and, where one was refused, why.
 */
export const appendScript: string = `
local bound, at, count = ARGV[1], 2, 0
while at <= #ARGV do
  local last = at + 4 + ARGV[at + 4]
  local words = { KEYS[1], '*', 'defer-id', ARGV[at], 'defer-job', ARGV[at + 1],
    'defer-at', ARGV[at + 2], 'data', ARGV[at + 3], unpack(ARGV, at + 5, last) }
  if bound ~= '' and count % 100 == 0 then
    table.insert(words, 2, bound)
    table.insert(words, 2, '~')
    table.insert(words, 2, 'MAXLEN')
  end
  local id = redis.pcall('XADD', unpack(words))
  if type(id) == 'table' and id.err then return {count, id.err} end
  count = count + 1
  at = last + 1
end
return {count}
`;
