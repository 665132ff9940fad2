/**
 * Path of the worker's program, next to this file, with the same extension. CommonJS, because the package compiled by Jest
 * lacks import.meta; in a bundle, `__filename` is missing or is the bundle's.
 */
export declare const workerFile: string | undefined;
const ending = /worker-file\.c([jt]s)$/;
exports.workerFile =
  typeof __filename === 'string' && ending.test(__filename)
    ? __filename.replace(ending, 'worker.$1')
    : undefined;
// Compilers that turn the importers into CommonJS import `default`, which Node sets to the whole module.
exports.default = exports;
