/** Node's own tests that the engine fails: file, then the reason. Only those that replace internals of Node may be here. */
export const differences: Readonly<Record<string, string>> = {};
