import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { answers, startDaemon, type Daemon } from './daemon.ts';
import { javaOptions, obtainJavaProgram } from './java.ts';
import { extend } from './extend.ts';
import type { Started } from './started.ts';

/** A Kafka broker that is its own controller; its log survives `kill()` and `restart()`. */
export interface KafkaServer extends Daemon {
  /** e.g. `127.0.0.1:40123` */
  readonly address: string;
}

const run = promisify(execFile);
/** Any constant: 16 bytes in base64. */
const clusterId = 'cmVkbGluZS10ZXN0cy0tLQ';

export async function startKafka(): Promise<Started<KafkaServer>> {
  const program = await obtainJavaProgram('kafka');
  if ('missing' in program) return program;
  const java = [
    ...javaOptions,
    '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
    '-cp',
    program.classPath,
  ];
  const daemon = await startDaemon({
    name: 'kafka',
    extraPorts: 1,
    async prepare({ port, extraPorts, folder }) {
      const file = join(folder, 'server.properties');
      await writeFile(file, properties(port, extraPorts[0]!, join(folder, 'log')));
      const format = ['format', '--cluster-id', clusterId, '--config', file];
      await run(program.java, [...java, 'kafka.tools.StorageTool', ...format], { cwd: folder });
    },
    command: ({ folder }) => [
      program.java,
      ...java,
      'kafka.Kafka',
      join(folder, 'server.properties'),
    ],
    // ApiVersions, version 0, without a client id: a running broker responds with the length of its response.
    isReady: ({ port }) => answers(port, '\0\0\0\x0a\0\x12\0\0\0\0\0\x01\xff\xff', '\0\0'),
    startTimeoutMs: 60_000,
  });
  return { server: extend(daemon, { address: `127.0.0.1:${daemon.port}` }) };
}

function properties(port: number, controllerPort: number, folder: string): string {
  const one = [
    'offsets.topic.replication.factor',
    'transaction.state.log.replication.factor',
    'transaction.state.log.min.isr',
    'offsets.topic.num.partitions',
    'num.partitions',
    'num.io.threads',
    'num.network.threads',
  ];
  return [
    'process.roles=broker,controller',
    'node.id=1',
    `listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    `advertised.listeners=PLAINTEXT://127.0.0.1:${port}`,
    'controller.listener.names=CONTROLLER',
    `controller.quorum.voters=1@127.0.0.1:${controllerPort}`,
    `log.dirs=${folder}`,
    // After a crash it may not register again until its session has ended.
    'broker.session.timeout.ms=3000',
    'broker.heartbeat.interval.ms=500',
    'group.initial.rebalance.delay.ms=0',
    'log.cleaner.enable=false',
    ...one.map((key) => `${key}=1`),
    '',
  ].join('\n');
}
