/**
 * Reports an option that `known` does not list: misspelt, it would be a default that nobody asked for. `known` is an object,
 * so that the compiler holds it and the options' type together. The caller throws the message with its own code.
 */
export function unknownOption<Options extends object>(
  of: string,
  options: Options,
  known: Readonly<Record<keyof Options, true>>,
): string | undefined {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(known, name));
  if (unknown === undefined) return undefined;
  return `Unknown option "${unknown}" of ${of}. Known options: ${Object.keys(known).join(', ')}.`;
}
