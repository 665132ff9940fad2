/** The C library of this process, as npm names it. */
export function thisLibc(): 'glibc' | 'musl' {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return header.glibcVersionRuntime === undefined ? 'musl' : 'glibc';
}
