/**
 * The worker's program: it lies beside this file, with the same ending. CommonJS, as Jest makes it of the package, has no
 * import.meta; a bundle has no `__filename`, or that of the bundle.
 */
export declare const workerFile: string | undefined;
const ending = /worker-file\.c([jt]s)$/;
exports.workerFile =
  typeof __filename === 'string' && ending.test(__filename)
    ? __filename.replace(ending, 'worker.$1')
    : undefined;
// What compiles the importers to CommonJS imports `default`, which Node takes for all of it.
exports.default = exports;
