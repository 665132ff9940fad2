import { execFileSync } from 'node:child_process';
import { basename } from 'node:path';
import { ask, run, say } from './say.ts';

/**
 * Publishes what the registry does not have yet, platform packages first, so a release that was interrupted is completed by
 * running it again.
 */
export function publish(tarballs: readonly string[]): void {
  for (const tarball of tarballs) {
    const { name, version } = manifestOf(tarball);
    if (ask('npm', ['view', `${name}@${version}`, 'version']) === version) {
      say(`${name} ${version} is published already`);
      continue;
    }
    say(`Publishing ${basename(tarball)}`);
    run('npm', ['publish', tarball, '--access', 'public']);
    // changesets/action makes a release of each of these lines.
    process.stdout.write(`New tag: ${name}@${version}\n`);
  }
}

function manifestOf(tarball: string): { name: string; version: string } {
  const args = ['-xzOf', tarball, 'package/package.json'];
  const text = execFileSync('tar', args, { encoding: 'utf8' });
  return JSON.parse(text) as { name: string; version: string };
}
