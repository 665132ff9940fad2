import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';

/** A registry that does not answer is not waited for. */
const INSTALL_MS = 600_000;

interface Manifest {
  devDependencies: Record<string, string>;
}

/**
 * A project's tests in a folder of their own, with their dependencies installed. The folder goes when the scope ends.
 *
 * @param unneeded What its tests do without: linters, coverage.
 */
export async function installedCopy(
  project: string,
  unneeded: readonly string[],
): Promise<AsyncDisposable & { folder: string }> {
  console.log(`${basename(project)}: installing what its tests need`);
  const folder = await mkdtemp(join(tmpdir(), 'conformance-'));
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    // What is shared may be read-only, and npm writes into the folder.
    await cp(project, folder, { recursive: true });
    await promisify(execFile)('chmod', ['-R', 'u+w', folder]);
    const manifest = join(folder, 'package.json');
    const read = JSON.parse(await readFile(manifest, 'utf8')) as Manifest;
    for (const name of unneeded) delete read.devDependencies[name];
    await writeFile(manifest, JSON.stringify(read));
    const quiet = ['--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'];
    const install = ['install', '--ignore-scripts', '--prefer-offline', ...quiet];
    await promisify(execFile)('npm', install, { cwd: folder, timeout: INSTALL_MS });
    return { folder, [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
