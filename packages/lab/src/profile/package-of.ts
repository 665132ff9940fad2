/** `node_modules/@nestjs/core/router/x.js:1:1` as the package and the file in it; undefined for what is in no package. */
export function packageOf(path: string): { name: string; file: string } | undefined {
  // The innermost: of pnpm's folders and of packages within packages.
  const [, name, file] =
    /.*(?:^|[\\/])node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)[\\/](.*)/.exec(path) ?? [];
  return name === undefined ? undefined : { name, file: file! };
}
