import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RequestConfig } from '../config/types.ts';
import { maskSecrets } from '../secrets.ts';
import { originOf } from './endpoint.ts';
import { freshIdStart, needsFreshId, withFreshId } from './fresh-ids.ts';
import type { ClosedLoop } from './closed-loop.ts';

/** A limit that is never reached: wrk is ended by a signal, and prints its summary on SIGINT as usual. */
const durationLimit = '6000s';

export interface WrkCommand {
  program: string;
  args: string[];
  /** To be removed after wrk has ended. */
  script: { folder: string; file: string } | undefined;
}

export function wrkCommand(
  {
    host,
    port,
    requests,
    connections,
    pipeline,
    launcher = [],
  }: Omit<ClosedLoop, 'durationMs' | 'signal'>,
  threads: number,
): WrkCommand {
  const script =
    pipeline > 1 || needsScript(requests)
      ? writeScript(rotating(requests, pipeline))
      : Object.keys(requests[0]!.headers).length > 0 || isSecret(requests[0]!.path)
        ? writeScript(onePath(requests[0]!))
        : undefined;
  const [program = 'wrk', ...before] = [...launcher, 'wrk'];
  const args = [
    ...before,
    `-t${threads}`,
    `-c${Math.max(connections, threads)}`,
    `-d${durationLimit}`,
    ...(script ? ['-s', script.file] : []),
    originOf({ host, port }) + (script ? '/' : requests[0]!.path),
  ];
  return { program, args, script };
}

/** Avoids a script for a plain GET, because Lua costs wrk a microsecond per request. */
function needsScript(requests: readonly Required<RequestConfig>[]): boolean {
  const [first] = requests as [Required<RequestConfig>];
  return requests.length > 1 || first.method !== 'GET' || first.body !== '' || needsFreshId(first);
}

function isSecret(path: string): boolean {
  return maskSecrets(path) !== path;
}

/** Writes to a private folder, because every user can read a command line. */
function writeScript(text: string): { folder: string; file: string } {
  const folder = mkdtempSync(join(tmpdir(), 'redline-wrk-'));
  const file = join(folder, 'requests.lua');
  writeFileSync(file, text, { mode: 0o600 });
  return { folder, file };
}

/** Sets path and headers only: without a `request` function wrk builds the request once, and Lua costs nothing. */
function onePath({ path, headers }: Required<RequestConfig>): string {
  const lines = Object.entries(headers).map(
    ([name, value]) => `wrk.headers[${lua(name)}] = ${lua(value)}`,
  );
  return [`wrk.path = ${lua(path)}`, ...lines, ''].join('\n');
}

function rotating(requests: readonly Required<RequestConfig>[], pipeline: number): string {
  const isFresh = requests.some(needsFreshId);
  const formatted = requests.map((given) => {
    const request = isFresh ? withFreshId(given, widePlaceholders) : given;
    const headers = Object.entries(request.headers)
      .map(([name, value]) => `[${lua(name)}]=${lua(value)}`)
      .join(',');
    const body = request.body === '' ? 'nil' : lua(request.body);
    return `wrk.format(${lua(request.method)},${lua(request.path)},{${headers}},${body})`;
  });
  return `local requests, next = {}, 0
function init()
  wrk.headers = wrk.headers or {}
  requests = {${formatted.join(',')}}
  ${isFresh ? 'for i = 1, #requests do requests[i] = cut(requests[i]) end' : ''}
end
function one()
  next = next % #requests + 1
  return ${isFresh ? 'filled(requests[next])' : 'requests[next]'}
end
${isFresh ? fillingIn() : ''}
${pipeline === 1 ? 'request = one' : pipelined(pipeline)}
`;
}

/** As wide as their replacements, because the length of the body is in the request already. */
const widePlaceholders = { id: `{{id${'_'.repeat(10)}}}`, uuid: `{{uuid${'_'.repeat(28)}}}` };

/**
 * Lets each thread of wrk count from its own start. A request is cut at its placeholders once: searching each for them would cost
 * wrk more than what it sends costs a fast server, which would then sleep between any two.
 */
function fillingIn(): string {
  const start = freshIdStart();
  return `local threads = 0
function setup(thread)
  thread:set("nth", threads)
  threads = threads + 1
end
local count = 0
local fresh = {
  id = function() return string.format("%.0f", ${start.id} + nth * 1e12 + count) end,
  uuid = function() return ${lua(start.uuid)} .. string.format("%012x", ${start.uuidEnd} + nth * 2 ^ 40 + count) end
}
function cut(text)
  local pieces, from = {}, 1
  for first, name, last in string.gmatch(text, "(){{(%a+)_*}}()") do
    if fresh[name] then
      pieces[#pieces + 1] = string.sub(text, from, first - 1)
      pieces[#pieces + 1] = fresh[name]
      from = last
    end
  end
  pieces[#pieces + 1] = string.sub(text, from)
  return pieces
end
function filled(pieces)
  count = count + 1
  local text = pieces[1]
  for i = 2, #pieces, 2 do text = text .. pieces[i]() .. pieces[i + 1] end
  return text
end`;
}

/** Joins a batch: wrk counts the requests in what it is given, and waits for as many responses. */
function pipelined(count: number): string {
  return `local batch = {}
function request()
  for i = 1, ${count} do batch[i] = one() end
  return table.concat(batch)
end`;
}

/** Returns a Lua string literal, with every byte outside printable ASCII escaped. */
function lua(text: string): string {
  let literal = '"';
  for (const byte of Buffer.from(text)) {
    const plain = byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c;
    literal += plain ? String.fromCharCode(byte) : `\\${String(byte).padStart(3, '0')}`;
  }
  return `${literal}"`;
}
