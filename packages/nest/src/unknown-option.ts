import { inspect } from 'node:util';

/** Reports options that are not an object: in their place would be defaults that nobody asked for. */
export function notAnObject(of: string, options: unknown): string | undefined {
  const isObject = typeof options === 'object' && options !== null && !Array.isArray(options);
  if (isObject) return undefined;
  return `The options of ${of} must be an object; got ${inspect(options, { depth: 1 })}.`;
}

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
