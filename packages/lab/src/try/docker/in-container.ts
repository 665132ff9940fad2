import type { Command } from 'commander';
import { createReadStream, existsSync } from 'node:fs';
import { posix, resolve } from 'node:path';
import { LabError } from '../../errors.ts';
import { wrap } from '../../report/columns.ts';
import { PhaseLine } from '../../report/phase-line.ts';
import { type AppFolder, findAppFolder } from './app-folder.ts';
import type { Finish } from './client.ts';
import { Container } from './container.ts';
import { copyFolder } from './copy-folder.ts';
import { type ContainerEngine, findEngine, type Remote, remoteOf } from './engine.ts';
import { environmentOf, exportsOf } from './environment.ts';
import { innerCommand, noFolderCode, resultFile } from './inner-command.ts';
import { installationOf } from './installation.ts';

export interface DockerOptions {
  docker?: true;
  image?: string;
  env?: string[];
  envFile?: string[];
}

export const defaultImage = 'node:24';
const minNode = 22;

/** The end of a trial in a container, whose messages have been printed as they came. */
export interface InnerEnd {
  engine: ContainerEngine;
  image: string;
  /** Exit code of the redline in the container. */
  code: number;
  stderr: string;
  /** JSON of its result; undefined if it measured nothing. */
  json: string | undefined;
}

interface Asked extends DockerOptions {
  cwd?: string;
  yes?: true;
}

/**
 * Runs `redline try` in a Linux container: copies the app's folder into it, installs the app's packages and redline there, and
 * removes it again, whatever happens.
 * @param command The command with its parsed options.
 * @throws {LabError} ERR_REDLINE_DOCKER, ERR_REDLINE_OPTION
 */
export async function tryInContainer(
  command: Command,
  { version, signal }: { version: string; signal: AbortSignal },
): Promise<InnerEnd> {
  const options = command.opts<Asked>();
  const cwd = resolve(options.cwd ?? '.');
  if (!existsSync(cwd)) {
    throw new LabError('ERR_REDLINE_OPTION', `--cwd "${options.cwd}" does not exist.`);
  }
  const app = findAppFolder(cwd);
  const env = exportsOf(environmentOf(options.env, options.envFile));
  const asks = process.stdin.isTTY && process.stderr.isTTY && options.yes !== true;
  const { script, files } = innerCommand(command, app, asks);
  const image = options.image ?? defaultImage;
  using line = new PhaseLine('try');
  line.show('asking for an engine of containers');
  const engine = await findEngine(signal);
  const remote = await remoteOf(engine, signal);
  line.clear();
  const installation = installationOf(app);
  say(announcement(app, image, { engine, command: installation?.command, remote }));
  line.show(`starting a container of ${image}`);
  await using container = await Container.start(engine, image, {
    signal,
    fetching: () => line.show(`fetching ${image}`),
  });
  await requireNode(container, image);
  line.show('copying the app');
  await copyFolder(container, app.root);
  await write(container, 'env.sh', env);
  await write(container, 'run.sh', script);
  for (const [name, file] of files) await write(container, name, createReadStream(file));
  line.show('installing redline in the container');
  const tools = [`@redline/lab@${version}`, ...(installation?.tool ? [installation.tool] : [])];
  await container.require('installing redline', installTools, tools);
  if (installation !== undefined) {
    line.show(`installing the packages of the app: ${installation.command}`);
    await container.require(
      `installing the packages of the app (${installation.command})`,
      `${environment} && cd app && ${installing} ${installation.command}`,
    );
  }
  line.clear();
  const finish = await container.run(`${environment} && exec sh run.sh`, [], {
    onError: (chunk) => void process.stderr.write(chunk),
    ...(asks && { input: process.stdin }),
  });
  if (asks) process.stdin.pause();
  requireOwnEnd(finish, app);
  const { code, stderr } = finish;
  const found = await container.run(`cat ${resultFile}`);
  return { engine, image, code, stderr, json: found.code === 0 ? found.stdout : undefined };
}

/** The variables that were asked for, the tools on PATH, and a home folder that can be written. */
const environment =
  '. ./env.sh && export PATH="$PWD/tools/node_modules/.bin:$PATH" && { [ -w "$HOME" ] || export HOME="$PWD"; }';
/** Hooks of git have no repository there, and a question would have no answer. */
const installing = 'env NODE_ENV=development CI=1 HUSKY=0';
/** The registry of the app's own .npmrc is the one that a company's machine reaches. */
const installTools = `${environment} && mkdir -p tools && { [ ! -f app/.npmrc ] || cp app/.npmrc tools/; } && npm install --prefix tools --include=optional --no-audit --no-fund "$@"`;

function announcement(
  { root, unknownLocks }: AppFolder,
  image: string,
  {
    engine,
    command,
    remote,
  }: { engine: ContainerEngine; command: string | undefined; remote: Remote | undefined },
): string[] {
  const installed = command === undefined ? '' : `, installs its packages there with ${command}`;
  const unknown =
    unknownLocks.length === 0
      ? []
      : [
          `! ${unknownLocks.join(', ')} belongs to none of npm, pnpm, Yarn and Bun: npm installs the newest versions that package.json allows.`,
        ];
  const elsewhere =
    remote === undefined
      ? []
      : [
          `! ${engine.command[0]} runs it on ${remote.host} (${remote.by}), not on this machine: the folder and the variables go there, and the figures are that machine's.`,
        ];
  return [
    `Copies ${root} into a container of ${image} (${engine.command.join(' ')})${installed}, and tries it there. The folder itself stays as it is.`,
    ...elsewhere,
    ...unknown,
  ];
}

/** Writes lines as the first screen does. */
export function say(lines: readonly string[]): void {
  // A terminal that has no size yet says 0.
  const width = Math.min(100, process.stderr.columns || 100);
  process.stderr.write(lines.map((line) => `${wrap(line, width, '  ').join('\n')}\n`).join(''));
}

async function write(
  container: Container,
  name: string,
  content: string | ReturnType<typeof createReadStream>,
): Promise<void> {
  await container.require(
    `writing ${name}`,
    'umask 077 && mkdir -p "$1" && cat > "$2"',
    [posix.dirname(name), name],
    content,
  );
}

/** @throws {LabError} ERR_REDLINE_DOCKER */
async function requireNode(container: Container, image: string): Promise<void> {
  const { code, stdout } = await container.run('node --version && npm --version');
  const major = Number(/^v(\d+)/.exec(stdout)?.[1]);
  if (code === 0 && major >= minNode) return;
  const reason = major < minNode ? `has Node ${major}` : 'has no Node with npm';
  throw new LabError(
    'ERR_REDLINE_DOCKER',
    `The image ${image} ${reason}; redline needs Node ${minNode} or newer, and npm: name another with --image.`,
  );
}

/** Codes that redline itself ends with: the last three after a signal. */
const ownCodes = new Set([0, 1, 2, 129, 130, 143]);
const killedCode = 137;

/** @throws {LabError} ERR_REDLINE_DOCKER if redline in the container did not end by itself */
function requireOwnEnd({ code, stderr }: Finish, { root, below }: AppFolder): void {
  // The client of an engine also ends with 1 where it could not run anything.
  if (code === 1 ? stderr.includes('(ERR_REDLINE_') : ownCodes.has(code)) return;
  if (code === noFolderCode) {
    throw new LabError(
      'ERR_REDLINE_DOCKER',
      `--cwd: ${below} of ${root} is not in the container, because node_modules and .git are not copied.`,
    );
  }
  const why =
    code === killedCode
      ? 'it was killed, as it is where the memory of the container is used up'
      : `it ended with exit code ${code}`;
  throw new LabError('ERR_REDLINE_DOCKER', `redline did not finish in the container: ${why}.`);
}
