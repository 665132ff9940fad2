'use strict';
// For runtimes that cannot load mitata: the same passes, timed one by one. The mean, so that the garbage a pass leaves is paid for.

exports.time = function time(pass, blockMs) {
  let nanos = 0;
  let passes = 0;
  while (nanos < blockMs * 1e6 || passes < 12) {
    const from = process.hrtime();
    pass();
    const took = process.hrtime(from);
    nanos += took[0] * 1e9 + took[1];
    passes++;
  }
  return Promise.resolve(nanos / passes);
};
