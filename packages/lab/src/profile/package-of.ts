/** Splits `node_modules/@nestjs/core/router/x.js:1:1` into the package and the file in it; undefined outside of packages. */
export function packageOf(path: string): { name: string; file: string } | undefined {
  // The innermost one, for pnpm's folders and for packages within packages.
  const [, name, file] =
    /.*(?:^|[\\/])node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)[\\/](.*)/.exec(path) ?? [];
  return name === undefined ? undefined : { name, file: file! };
}
