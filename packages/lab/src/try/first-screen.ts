import type { Command } from 'commander';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { commandText } from '../config/command-line.ts';
import { wrap } from '../report/columns.ts';
import { seconds } from '../report/format.ts';
import { maskSecrets } from '../secrets.ts';
import { label, labelsOf } from '../servers/contract.ts';
import { dotEnv } from '../servers/launched-app.ts';
import { type Described, descriptionRequestsText } from './apis/described.ts';
import { listenerText } from './choose-listener.ts';
import { pickRoutes, type PickedRoutes } from './choose-request.ts';
import type { Recording } from './har.ts';
import type { Listening } from './preload/protocol.ts';
import type { TryTarget } from './target.ts';
import type { Trial } from './trial.ts';

export interface ConsentOptions {
  /** Skips the questions. */
  yes?: true;
  /** Stops after the first screen. */
  dryRun?: true;
  /** A person answers through a pipe, because this runs in a container. */
  asksByPipe?: true;
}

/** A database or a queue in the configuration of the app. */
export interface Service {
  name: string;
  /** Connection string without passwords. */
  value: string;
  isLocal: boolean;
}

const serviceUrl =
  /^(postgres(ql)?|mysql|mariadb|mongodb(\+srv)?|rediss?|valkeys?|amqps?|nats|kafka|sqlserver|mssql|libsql|clickhouse|cassandra|memcached|elasticsearch|neo4j|bolt|ldaps?|smtps?|sqs|file|sqlite|prisma)(\+\w+)?:/i;
const serviceName =
  /^(?:\w*_)?(?:DATABASE|DB|PG|POSTGRES(?:QL)?|MYSQL|MARIADB|MONGO(?:DB)?|REDIS|VALKEY|RABBITMQ|AMQP|KAFKA|NATS|ELASTIC(?:SEARCH)?|SMTP|CLICKHOUSE)_?(?:URL|URI|DSN|HOST|HOSTS|HOSTNAME|SERVER|BROKERS?)$/i;
const maxNamed = 8;

/** Finds services in the configuration of the app: in this environment, in that of its command, and in its `.env`. */
export function servicesOf(
  { app, typed }: Pick<TryTarget, 'app' | 'typed'>,
  outer: NodeJS.ProcessEnv = process.env,
): Service[] {
  const files = typed.command.flatMap((word, at, all) => {
    const [found, file = all[at + 1]] = /^--env-file(?:-if-exists)?(?:=(.+))?$/.exec(word) ?? [];
    return found === undefined || file === undefined ? [] : [file];
  });
  const read = ['.env', '.env.production', ...files].map((file) => dotEnv(resolve(app.cwd, file)));
  const env: Record<string, string | undefined> = Object.assign({}, ...read, outer, app.env);
  return Object.entries(env).flatMap(([name, value]) => {
    if (value === undefined || value === '') return [];
    if (!serviceUrl.test(value) && !serviceName.test(name)) return [];
    return [{ name, value: maskSecrets(value), isLocal: isLocal(value) }];
  });
}

/** True if every host is local, in texts such as `mongodb://a:1,b:2/db` or `localhost:9092`. */
function isLocal(value: string): boolean {
  if (/^(file|sqlite):/i.test(value) || value.startsWith('/')) return true;
  const authority = value
    .replace(/^[\w+]+:\/*/, '')
    .replace(/^[^/?#]*@/, '')
    .split(/[/?#]/)[0]!;
  return authority
    .split(',')
    .every((host) =>
      /^(localhost|[\w.-]+\.localhost|127(\.\d+){3}|0\.0\.0\.0|\[?::1\]?)?(:\d+)?$/i.test(host),
    );
}

/** Adds the same options to every command that chooses its own requests. */
export function addConsent(command: Command): Command {
  return command
    .option('--yes', 'do not ask before the first request')
    .option('--dry-run', 'say what would be started and requested, and stop there');
}

interface Streams {
  input: NodeJS.ReadableStream & { isTTY?: boolean };
  output: NodeJS.WritableStream & { isTTY?: boolean; columns?: number };
}

/**
 * Announces what a command is going to do to an app, and asks once if the input is interactive. Only requests that were shown first
 * are sent.
 */
export class FirstScreen {
  readonly #options: ConsentOptions;
  readonly #streams: Streams;
  readonly #copies: number;
  /** Time spent waiting for the user. */
  waitedMs = 0;

  /** @param copies Max number of copies that run at a time. */
  constructor(
    options: ConsentOptions,
    copies: number,
    streams: Streams = { input: process.stdin, output: process.stderr },
  ) {
    this.#options = options;
    this.#copies = copies;
    this.#streams = streams;
  }

  /**
   * Runs before the first start.
   * @returns true to continue
   */
  async beforeStart(target: TryTarget, signal: AbortSignal): Promise<boolean> {
    const services = servicesOf(target);
    const remote = services.filter(({ isLocal: local }) => !local);
    const { typed, app, launched } = target;
    this.#write([
      `Starts ${maskSecrets(commandText(typed))} in ${app.cwd}: up to ${this.#copies} copies at a time, on free ports of this machine, with NODE_ENV=${app.env['NODE_ENV'] ?? 'production'}.`,
      ...(launched === undefined ? [] : [launched]),
      ...(services.length === 0
        ? [
            'Names no database or queue that it knows of: what the app connects to by itself is used as it is.',
          ]
        : services
            .slice(0, maxNamed)
            .map(
              ({ name, value, isLocal: local }) =>
                `  ${name}=${value}${local ? '' : '   NOT LOCAL'}`,
            )),
      ...(remote.length === 0
        ? []
        : [
            `! ${remote.map(({ name }) => name).join(', ')} ${remote.length === 1 ? 'is' : 'are'} not of this machine: the app will use it as in every start.`,
          ]),
    ]);
    if (remote.length === 0 || this.#options.dryRun === true) return true;
    return this.#ask('Start it? [Y/n] ', signal);
  }

  /**
   * Runs before the first request.
   * @returns true to continue
   */
  async beforeRequests(
    target: TryTarget,
    started: Pick<Trial, 'listeners' | 'choose'>,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { main, undecided } = started.choose(target.port);
    const { listeners } = started;
    this.#write([
      `Listens at ${listeners.map(listenerText).join('; ')}.`,
      ...(listeners.length === 1
        ? []
        : undecided.length > 0
          ? [`Requests GET / of each that speaks HTTP, once, to see which is the application.`]
          : [`The requests are for ${listenerText(main!)}; name another by its URL.`]),
      ...requestLines(target, main),
    ]);
    if (main?.kind !== 'http') return true;
    if (this.#options.dryRun === true) {
      this.#write(['Nothing was requested: --dry-run.']);
      return false;
    }
    return this.#ask('Go on? [Y/n] ', signal);
  }

  /** Announces that the app has a lock, or a port that only one process can use. */
  cannotRunTwice(refusal: string): void {
    this.#write([
      `The app cannot run twice (${refusal}): its copies run one at a time, alternating.`,
    ]);
  }

  beforeMeasuring(sentence: string): void {
    this.#write([sentence]);
  }

  /** Shows the URL to which the user sends requests. */
  recording(url: string, ms: number): void {
    this.waitedMs += ms;
    this.#write([`Use the app at ${url} now, for ${seconds(ms / 1_000)}.`]);
  }

  recorded({ requests, leftOut }: Recording): void {
    this.#write([
      `Requests, many times each: ${labelsOf(requests).join(', ')}`,
      ...leftOutLines(leftOut),
    ]);
  }

  /** Lists recorded requests that fail now. */
  failing(refused: readonly string[]): void {
    const more = refused.length > maxNamed ? ` and ${refused.length - maxNamed} more` : '';
    this.#write([`Left out, because they fail: ${refused.slice(0, maxNamed).join(', ')}${more}.`]);
  }

  described({ requests, by }: Described): void {
    const list = requests.map((each) => `${label(each)}${each.body === '' ? '' : ` ${each.body}`}`);
    const more = list.length > maxNamed ? ` and ${list.length - maxNamed} more` : '';
    this.#write([
      `Requests, by ${by}: ${list.slice(0, maxNamed).join(', ')}${more}: a few times each, and the one that takes longest many times.`,
    ]);
  }

  async #ask(question: string, signal: AbortSignal): Promise<boolean> {
    const { input, output } = this.#streams;
    const isPerson = input.isTTY === true && output.isTTY === true;
    if (this.#options.yes === true || !(isPerson || this.#options.asksByPipe === true)) return true;
    const askedAt = performance.now();
    const lines = createInterface({ input, output });
    const stop = new AbortController();
    lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    lines.once('close', () => stop.abort());
    try {
      const answer = await lines.question(question, {
        signal: AbortSignal.any([signal, stop.signal]),
      });
      if (/^\s*(y(es)?)?\s*$/i.test(answer)) return true;
    } catch {
      signal.throwIfAborted();
    } finally {
      lines.close();
      this.waitedMs += performance.now() - askedAt;
    }
    this.#write(['Stopped; nothing was requested.']);
    return false;
  }

  #write(lines: readonly string[]): void {
    const { output } = this.#streams;
    // A terminal that has no size yet says 0.
    const width = Math.min(100, output.columns || 100);
    output.write(lines.map((line) => `${wrap(line, width, '  ').join('\n')}\n`).join(''));
  }
}

/** Lists the requests that will be sent, as far as they are known in advance. */
function requestLines(
  { record, hasRequests, plan, leftOut }: TryTarget,
  main: Listening | undefined,
): string[] {
  const login =
    plan.login === undefined ? [] : [`Logs in to each copy once: ${label(plan.login)}.`];
  if (main?.kind !== 'http') return [];
  if (record !== undefined) {
    const time = seconds(record.ms / 1_000);
    return [
      ...login,
      `Passes on for ${time} what you request yourself, and repeats what only reads.`,
    ];
  }
  if (!hasRequests) return [...login, ...routeLines(pickRoutes(main.routes)), descriptionNote];
  return [
    ...login,
    `Requests, many times each: ${labelsOf(plan.requests).join(', ')}`,
    ...leftOutLines(leftOut),
  ];
}

const descriptionNote = `If none of these answers, it looks for a description of the API, with ${descriptionRequestsText}, and requests what that lists and only reads.`;

function leftOutLines(leftOut: readonly string[]): string[] {
  if (leftOut.length === 0) return [];
  const more = leftOut.length > maxNamed ? ` and ${leftOut.length - maxNamed} more` : '';
  return [
    `Left out, because they may change something: ${leftOut.slice(0, maxNamed).join(', ')}${more}; --allow '${leftOut[0]}' sends that one.`,
  ];
}

function routeLines({ asked, actions, parametrised, others }: PickedRoutes): string[] {
  const list = (paths: readonly string[]): string =>
    `${paths
      .slice(0, maxNamed)
      .map((path) => label({ method: 'GET', path }).slice(4))
      .join(' ')}${paths.length > maxNamed ? ` and ${paths.length - maxNamed} more` : ''}`;
  return [
    asked.length === 0
      ? 'Requests nothing: none of its GET routes can be asked without being named.'
      : `Requests GET ${list(asked)}: a few times each, and the one that takes longest many times.`,
    ...(actions.length === 0 ? [] : [`Left out, because they look like actions: ${list(actions)}`]),
    ...(parametrised.length === 0
      ? []
      : [`Left out, because they need a value: ${list(parametrised)}`]),
    ...(others.length === 0 ? [] : [`Left out: ${list(others)}`]),
  ];
}
