/** Returns the C library of this process, by npm's names. */
export function thisLibc(): 'glibc' | 'musl' {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return header.glibcVersionRuntime === undefined ? 'musl' : 'glibc';
}
