import { existsSync } from 'node:fs';
import { ask, run, say } from './say.ts';

const QEMU = '/usr/bin/qemu-aarch64-static';
/** The arm64 libraries of glibc. */
export const ARM64_LIBRARIES = '/usr/aarch64-linux-gnu';

const packages = [
  'qemu-user-static',
  'libc6-arm64-cross',
  'libstdc++6-arm64-cross',
  'libgcc-s1-arm64-cross',
  'libatomic1-arm64-cross',
];

/** Returns the program that runs arm64 programs; undefined, with a message, if it cannot be installed. */
export function obtainEmulator(): string | undefined {
  if (existsSync(QEMU) && existsSync(ARM64_LIBRARIES)) return QEMU;
  const command = `apt-get install -y --no-install-recommends ${packages.join(' ')}`;
  if (process.getuid?.() !== 0 || ask('apt-get', ['--version']) === undefined) {
    say(`arm64: not proved, qemu is not installed. On Debian: ${command}`);
    return undefined;
  }
  say('Installing qemu and the libraries of arm64 with apt-get');
  const [program, ...args] = command.split(' ');
  run(program!, args, { env: { DEBIAN_FRONTEND: 'noninteractive' } });
  return QEMU;
}
