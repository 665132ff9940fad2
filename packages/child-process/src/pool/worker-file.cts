/** The worker's program: it lies beside this file, with the same ending. CommonJS, as Jest makes it of the package, has no import.meta. */
export declare const workerFile: string;
exports.workerFile = __filename.replace(/worker-file\.c([jt]s)$/, 'worker.$1');
// What compiles the importers to CommonJS imports `default`, which Node takes for all of it.
exports.default = exports;
