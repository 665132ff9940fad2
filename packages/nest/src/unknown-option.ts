import { inspect } from 'node:util';

/** Reports options that are not an object: the defaults would silently apply instead. */
export function notAnObject(of: string, options: unknown): string | undefined {
  const isObject = typeof options === 'object' && options !== null && !Array.isArray(options);
  if (isObject) return undefined;
  return `The options of ${of} must be an object; got ${inspect(options, { depth: 1 })}.`;
}

/**
 * Reports an option that `known` does not list: a misspelt one would silently have its default. `known` is an object, so that
 * the compiler keeps it in step with the type of the options. The caller throws the message with its own code.
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
