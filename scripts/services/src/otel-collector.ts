import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from './cache-folder.ts';
import { startDaemon, type Daemon } from './daemon.ts';
import { extend } from './extend.ts';
import { findOnPath } from './find-on-path.ts';
import type { Started } from './started.ts';

const run = promisify(execFile);
const sources = join(import.meta.dirname, '..', 'collector');
const buildTimeoutMs = 1_200_000;

/** A request that the collector has taken, in OTLP's JSON form. */
export interface CollectedLine {
  readonly traces?: unknown;
  readonly metrics?: unknown;
  readonly logs?: unknown;
}

/** An OpenTelemetry collector that takes OTLP over HTTP. */
export interface OtelCollector extends Daemon {
  /** e.g. `http://127.0.0.1:40123`, for OTEL_EXPORTER_OTLP_ENDPOINT */
  readonly url: string;
  /** Returns everything it has taken so far. */
  collected(): Promise<CollectedLine[]>;
}

/**
 * Builds it with Go the first time, which takes minutes.
 *
 * @param onBuild Called before that.
 */
export async function startOtelCollector(
  onBuild: () => void = () => {},
): Promise<Started<OtelCollector>> {
  const program = await obtain(onBuild);
  if ('missing' in program) return program;
  let output = '';
  const daemon = await startDaemon({
    name: 'otel-collector',
    async prepare({ port, folder }) {
      output = join(folder, 'collected');
      await writeFile(join(folder, 'collector.yaml'), settings(port));
    },
    command: ({ folder }) => [program.file, '--config', join(folder, 'collector.yaml')],
    env: ({ folder }) => ({ OUTPUT: join(folder, 'collected') }),
    startTimeoutMs: 60_000,
  });
  const collected = async (): Promise<CollectedLine[]> => {
    // The last line may be incomplete.
    const lines = (await readFile(output, 'utf8')).split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as CollectedLine);
  };
  return { server: extend(daemon, { url: `http://127.0.0.1:${daemon.port}`, collected }) };
}

async function obtain(onBuild: () => void): Promise<{ file: string } | { missing: string }> {
  const hash = createHash('sha256');
  for (const name of ['main.go', 'go.mod', 'go.sum'])
    hash.update(await readFile(join(sources, name)));
  const folder = cacheFolder();
  const file = join(folder, `otel-collector-${hash.digest('hex').slice(0, 12)}`);
  if (existsSync(file)) return { file };
  const go = findOnPath('go');
  if (go === undefined)
    return { missing: 'go is not installed: run "sudo apt-get install golang".' };
  onBuild();
  const fresh = `${file}.${process.pid}`;
  try {
    await mkdir(folder, { recursive: true });
    const args = ['build', '-trimpath', '-ldflags=-s -w', '-o', fresh, '.'];
    await run(go, args, { cwd: sources, timeout: buildTimeoutMs });
    await rename(fresh, file);
  } catch (error) {
    const reason = (error as { stderr?: string }).stderr?.trim() || (error as Error).message;
    return { missing: `Go could not build the collector: ${reason.split('\n').at(-1)}` };
  }
  return { file };
}

function settings(port: number): string {
  return `receivers:
  otlp:
    protocols:
      http:
        endpoint: 127.0.0.1:${port}
exporters:
  lines: {}
service:
  telemetry:
    metrics:
      level: none
  pipelines:
    traces: { receivers: [otlp], exporters: [lines] }
    metrics: { receivers: [otlp], exporters: [lines] }
    logs: { receivers: [otlp], exporters: [lines] }
`;
}
