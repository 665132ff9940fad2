/** A server that runs, or the sentence that says why there is none. */
export type Started<T> =
  | { server: T; missing?: undefined }
  | { server?: undefined; missing: string };

export function missing(what: string, debianPackage: string): { missing: string } {
  return { missing: `${what} is not installed: run "sudo apt-get install ${debianPackage}".` };
}
