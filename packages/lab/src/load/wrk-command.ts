import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RequestConfig } from '../config/types.ts';
import type { ClosedLoop } from './generator.ts';

/** Its own limit, never reached: wrk is ended by a signal, and prints its summary on SIGINT as usual. */
const durationLimit = '6000s';

export interface WrkCommand {
  program: string;
  args: string[];
  /** To be removed when wrk has ended. */
  script: { folder: string; file: string } | undefined;
}

export function wrkCommand(
  {
    port,
    requests,
    connections,
    pipeline,
    launcher = [],
  }: Omit<ClosedLoop, 'durationMs' | 'signal'>,
  threads: number,
): WrkCommand {
  const script =
    pipeline > 1 || needsScript(requests) ? writeScript(requests, pipeline) : undefined;
  const [program = 'wrk', ...before] = [...launcher, 'wrk'];
  const args = [
    ...before,
    `-t${threads}`,
    `-c${Math.max(connections, threads)}`,
    `-d${durationLimit}`,
    ...(script ? ['-s', script.file] : headerArgs(requests[0]!)),
    `http://127.0.0.1:${port}${requests[0]!.path}`,
  ];
  return { program, args, script };
}

function headerArgs(request: Required<RequestConfig>): string[] {
  return Object.entries(request.headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
}

/** Lua costs wrk a microsecond a request, so a plain GET goes without. */
function needsScript(requests: readonly Required<RequestConfig>[]): boolean {
  return requests.length > 1 || requests[0]!.method !== 'GET' || requests[0]!.body !== '';
}

function writeScript(
  requests: readonly Required<RequestConfig>[],
  pipeline: number,
): { folder: string; file: string } {
  const folder = mkdtempSync(join(tmpdir(), 'redline-wrk-'));
  const file = join(folder, 'requests.lua');
  const formatted = requests.map((request) => {
    const headers = Object.entries(request.headers)
      .map(([name, value]) => `[${lua(name)}]=${lua(value)}`)
      .join(',');
    const body = request.body === '' ? 'nil' : lua(request.body);
    return `wrk.format(${lua(request.method)},${lua(request.path)},{${headers}},${body})`;
  });
  writeFileSync(
    file,
    `local requests, next = {}, 0
function init()
  wrk.headers = wrk.headers or {}
  requests = {${formatted.join(',')}}
end
function one()
  next = next % #requests + 1
  return requests[next]
end
${pipeline === 1 ? 'request = one' : pipelined(pipeline)}
`,
  );
  return { folder, file };
}

/** wrk counts the requests in what it is given, and waits for as many responses. */
function pipelined(count: number): string {
  return `local batch = {}
function request()
  for i = 1, ${count} do batch[i] = one() end
  return table.concat(batch)
end`;
}

/** A Lua string literal, every byte outside printable ASCII escaped. */
function lua(text: string): string {
  let literal = '"';
  for (const byte of Buffer.from(text)) {
    const plain = byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c;
    literal += plain ? String.fromCharCode(byte) : `\\${String(byte).padStart(3, '0')}`;
  }
  return `${literal}"`;
}
