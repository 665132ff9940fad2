import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { answers, startDaemon, type Daemon } from './daemon.ts';
import { javaOptions, obtainJavaProgram } from './java.ts';
import { extend } from './extend.ts';
import type { Started } from './started.ts';

/** An in-memory server for the SQS protocol: its queues are lost with `kill()`. */
export interface ElasticMqServer extends Daemon {
  /** e.g. `http://127.0.0.1:40123`, the endpoint for an SQS client */
  readonly url: string;
}

export async function startElasticMq(): Promise<Started<ElasticMqServer>> {
  const program = await obtainJavaProgram('elasticmq');
  if ('missing' in program) return program;
  const daemon = await startDaemon({
    name: 'elasticmq',
    async prepare({ port, folder }) {
      await writeFile(join(folder, 'elasticmq.conf'), settings(port));
    },
    command: ({ folder }) => [
      program.java,
      ...javaOptions,
      `-Dconfig.file=${join(folder, 'elasticmq.conf')}`,
      '-cp',
      program.classPath,
      'org.elasticmq.server.Main',
    ],
    isReady: ({ port }) => answers(port, 'GET /health HTTP/1.0\r\n\r\n', 'HTTP/1.'),
    startTimeoutMs: 60_000,
  });
  return { server: extend(daemon, { url: `http://127.0.0.1:${daemon.port}` }) };
}

function settings(port: number): string {
  return `include classpath("application.conf")
node-address { protocol = http, host = "127.0.0.1", port = ${port}, context-path = "" }
rest-sqs { enabled = true, bind-port = ${port}, bind-hostname = "127.0.0.1", sqs-limits = strict }
rest-stats { enabled = false }
`;
}
