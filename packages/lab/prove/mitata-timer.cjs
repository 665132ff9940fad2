'use strict';
// For every Node that can load mitata.
const measuring = import('mitata').then(({ measure }) => measure);

exports.time = async function time(pass, blockMs) {
  const measure = await measuring;
  const { avg } = await measure(pass, {
    min_cpu_time: blockMs * 1e6,
    min_samples: 12,
    // A pass is long against the clock; batches of thousands would make a block of seconds.
    batch_threshold: 0,
    // Its stand-in for a missing gc() allocates a gigabyte.
    gc: false,
  });
  return avg;
};
