import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { LabError } from '../../errors.ts';
import { endChild, startChild } from '../../system/guardian.ts';
import { lastLine } from './client.ts';
import type { Container } from './container.ts';

/** Folders that are installed again there, because packages of macOS hold binaries of macOS, or that nothing reads. */
const leftOut = ['node_modules', '.git', 'redline-out'];

/**
 * Copies a folder into the container. Nothing is mounted: a trial can change nothing of the user's, and no path has to be written
 * in the syntax of a mount.
 * @throws {LabError} ERR_REDLINE_DOCKER
 */
export async function copyFolder(container: Container, folder: string): Promise<void> {
  const words = ['-cf', '-', '-C', folder, ...leftOut.map((name) => `--exclude=${name}`), '.'];
  // Without the files beside the files in which the tar of macOS keeps its attributes.
  const env = { ...process.env, COPYFILE_DISABLE: '1' };
  const tar = startChild((mark) =>
    spawn('tar', process.platform === 'darwin' ? ['--no-xattrs', ...words] : words, {
      env: { ...env, ...mark },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    }),
  );
  let stderr = '';
  tar.stderr.on('data', (chunk: Buffer) => void (stderr += chunk.toString()));
  const ended = once(tar, 'close').then(
    ([code]) => ({ code: Number(code ?? 1), stderr }),
    ({ message }: Error) => ({ code: 127, stderr: message }),
  );
  try {
    const script = 'mkdir -p app && tar -xof - -C app';
    const unpacked = await container.run(script, [], { input: tar.stdout });
    const packed = await ended;
    // One that cannot write has been left by the other one.
    const isCause = packed.code !== 0 && !/broken pipe/i.test(packed.stderr);
    if (!isCause && unpacked.code === 0) return;
    const reason = lastLine(isCause ? packed : unpacked);
    throw new LabError(
      'ERR_REDLINE_DOCKER',
      `${folder} could not be copied into the container: ${reason}.`,
    );
  } finally {
    await endChild(tar);
  }
}
