// Counts the lines of completed requests that are missing after a process has ended: `npm run bench -- logger-loss`. Clients
// send requests over 32 connections and note the completed ones; then the process is ended, and its log is read.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@redline/services';
import { loggerServer, loggersOn, readLines, readLog } from '../contenders/logger-variants.ts';
import { obtainLoggers } from '../contenders/obtain.ts';
import { product } from '../requests.ts';
import { writeResult } from '../write-result.ts';

const ends = ['SIGTERM', 'SIGTERM-hooks', 'process.exit', 'SIGKILL'] as const;
type End = (typeof ends)[number];
const connections = 32;
const loadMs = 1_000;

export interface LoggerLoss {
  startedAt: string;
  runs: number;
  /** Logger → bytes per line, and way to end → losses of each run. */
  loggers: Record<string, { bytesPerLine: number; ended: Record<End, Ended[]> }>;
}

interface Ended {
  answered: number;
  lost: number;
  /** Lines that do not parse. */
  torn: number;
}

const jsonFile = process.argv[process.argv.indexOf('--json') + 1];
const runs = process.argv.includes('--quick') ? 1 : 3;
const missing = await obtainLoggers();
if (missing !== undefined) throw new Error(missing);
const result: LoggerLoss = { startedAt: new Date().toISOString(), runs, loggers: {} };
for (const logger of loggersOn('fastify')) {
  if (logger === 'none') continue;
  const ended = {} as Record<End, Ended[]>;
  let bytesPerLine = 0;
  for (const end of ends) {
    ended[end] = [];
    for (let run = 0; run < runs; run++) {
      const { bytes, ...lines } = await measure(logger, end);
      ended[end].push(lines);
      bytesPerLine = bytes;
    }
    const text = ended[end].map(({ lost, answered }) => `${lost} of ${answered}`).join(', ');
    process.stdout.write(`${logger}, ${end}: ${text} lost\n`);
  }
  result.loggers[logger] = { bytesPerLine, ended };
}
if (process.argv.includes('--json')) writeResult(jsonFile!, result);

async function measure(logger: string, end: End): Promise<Ended & { bytes: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'redline-logger-loss-'));
  try {
    const port = await freePort();
    const out = join(folder, 'stdout');
    const outDescriptor = openSync(out, 'a');
    const server = spawn(process.execPath, [loggerServer, 'fastify', logger], {
      env: {
        ...process.env,
        PORT: String(port),
        HOST: '127.0.0.1',
        PRODUCT: product,
        LOG_FOLDER: folder,
        ...(end === 'SIGTERM-hooks' && { SHUTDOWN_HOOKS: '1' }),
      },
      stdio: ['ignore', outDescriptor, 'inherit'],
    });
    closeSync(outDescriptor);
    const gone = once(server, 'exit');
    while (!(await ask(port, '/', undefined))) await sleep(20);
    const answered: number[] = [];
    const agent = new Agent({ keepAlive: true, maxSockets: connections });
    let number = 0;
    const clients = Array.from({ length: connections }, async () => {
      for (;;) {
        const mine = number++;
        if (!(await ask(port, `/?n=${mine}`, agent))) return;
        answered.push(mine);
      }
    });
    await sleep(loadMs);
    if (end === 'process.exit') void ask(port, '/exit', undefined);
    else server.kill(end === 'SIGKILL' ? 'SIGKILL' : 'SIGTERM');
    await gone;
    await Promise.all(clients);
    agent.destroy();
    // A worker thread ends with its process; data passed to the kernel is in the file.
    const text =
      logger === 'redline-stdout'
        ? await readFile(out, 'utf8')
        : await readLog(folder, 'fastify', logger);
    const { numbers, torn, bytesPerLine } = await readLines(text);
    const written = new Set(numbers);
    const lost = answered.filter((each) => !written.has(each)).length;
    return { answered: answered.length, lost, torn, bytes: bytesPerLine };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @returns true if the response was complete */
function ask(port: number, path: string, agent: Agent | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get({ port, host: '127.0.0.1', path, agent: agent ?? false }, (response) => {
      response
        .on('end', () => resolve(response.complete))
        .on('error', () => resolve(false))
        .resume();
    });
    request.on('error', () => resolve(false));
  });
}
