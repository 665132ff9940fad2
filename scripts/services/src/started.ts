/** A running server, or the reason why it is missing. */
export type Started<T> =
  | { server: T; missing?: undefined }
  | { server?: undefined; missing: string };

export function missing(what: string, debianPackage: string): { missing: string } {
  return { missing: `${what} is not installed: run "sudo apt-get install ${debianPackage}".` };
}
