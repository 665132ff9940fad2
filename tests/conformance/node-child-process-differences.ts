/** Node's own tests that the engine fails: file, then the reason. */
export const differences: Readonly<Record<string, string>> = {};
