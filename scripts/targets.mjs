// Platforms for which addons are published. Each has a package, `@redline/native-NAME`, with the addons of all engines.
export const targets = [
  target('x64', 'gnu', 'x86_64-unknown-linux-gnu', 62),
  target('x64', 'musl', 'x86_64-unknown-linux-musl', 62),
  target('arm64', 'gnu', 'aarch64-unknown-linux-gnu', 183),
  target('arm64', 'musl', 'aarch64-unknown-linux-musl', 183),
];

/** Crate of each addon of a published package, by the folder of the package that loads it. A platform package has them all. */
export const publishedCrates = { 'child-process': 'spawn_node', http: 'http_node' };

/** Crate of each addon. @redline/telemetry is private: a clone has its addon, and no release. */
export const crates = { ...publishedCrates, telemetry: 'telemetry_node' };

/** @param machine `e_machine` in the header of an ELF file */
function target(cpu, libc, triple, machine) {
  const name = `linux-${cpu}-${libc}`;
  return { name, package: `@redline/native-${name}`, cpu, libc, triple, machine };
}
