// V8's CPU profile has no frame for JSON.parse and JSON.stringify: their time is their caller's. A function of JavaScript
// around each has one.
const { parse, stringify } = JSON;

const timed = {
  parse(text: string, reviver?: (key: string, value: unknown) => unknown): unknown {
    return parse(text, reviver);
  },
  stringify(value: unknown, replacer?: never, space?: string | number): string | undefined {
    return stringify(value, replacer, space);
  },
};

/** Puts them in the place of the builtins. */
export function giveJsonFrames(): void {
  for (const name of ['parse', 'stringify'] as const) {
    const own = Object.getOwnPropertyDescriptor(JSON, name)!;
    Object.defineProperty(JSON, name, { ...own, value: timed[name] });
  }
}

/** The script of the frames, by which a reader of the profile knows them. */
export const jsonFramesUrl: string = import.meta.url;
