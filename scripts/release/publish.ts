import { basename } from 'node:path';
import { manifestOf } from './pack.ts';
import { ask, run, say } from './say.ts';

/**
 * Publishes the packages missing in the registry, platform packages first: an interrupted release is completed by running it
 * again.
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
    // changesets/action creates a release for each of these lines.
    process.stdout.write(`New tag: ${name}@${version}\n`);
  }
}
