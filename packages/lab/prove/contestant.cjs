'use strict';
// One side of a proof, in a process of its own. Runs on Node 8 and newer: no syntax from after 2017.
// argv: file of the proof, side ("before", "after" or "check").
const assert = require('assert');
const path = require('path');

const proof = require(path.resolve(process.argv[2]));
const side = process.argv[3];

if (side === 'check') check();
else race();

/** Both sides on every input, in a process whose timings nobody reads. */
function check() {
  const inputs = proof.inputs();
  try {
    for (let i = 0; i < inputs.length; i++) {
      const before = proof.before(inputs[i]);
      const after = proof.after(inputs[i]);
      if (!proof.changesResult && !proof.notCompared) {
        assert.deepStrictEqual(
          after,
          before,
          'input ' + i + ' gives ' + show(after) + ' after and ' + show(before) + ' before',
        );
      }
    }
    process.send({ equal: true }, exit);
  } catch (error) {
    process.send({ equal: false, reason: String(error.message) }, exit);
  }
}

function race() {
  const variant = proof[side];
  const inputs = proof.inputs();
  const count = inputs.length;
  // Every result is stored where anybody could read it, so none can be optimised away: a weak sink flattered by up to 20.
  const sink = (global.redlineSink = inputs.slice());
  let repeats = 1;
  function pass() {
    for (let r = 0; r < repeats; r++) {
      for (let i = 0; i < count; i++) sink[i] = variant(inputs[i]);
    }
  }

  process.on('message', function (message) {
    if (message.warmUpMs !== undefined) {
      warmUp(message.warmUpMs);
      process.send({ ready: true });
    } else {
      try {
        process.send({ nanos: time(pass, message.blockMs) / (count * repeats) });
      } catch (error) {
        process.send({ reason: String(error && error.stack) }, exit);
      }
    }
  });
  process.send({ started: true });

  /** Until the compiler is done; then as many repeats as make a pass long against the clock's own cost. */
  function warmUp(ms) {
    const until = Date.now() + ms;
    let passes = 0;
    let from = process.hrtime();
    while (Date.now() < until) {
      pass();
      passes++;
      // The later half counts: the first passes are interpreted.
      if (passes === 8) from = process.hrtime();
    }
    const took = process.hrtime(from);
    const nanos = (took[0] * 1e9 + took[1]) / Math.max(1, passes - 8);
    repeats = Math.max(1, Math.round(100000 / nanos));
  }
}

/** Nanoseconds per pass. The mean, so that the garbage a pass leaves is paid for. */
function time(pass, blockMs) {
  let nanos = 0;
  let passes = 0;
  while (nanos < blockMs * 1e6 || passes < 12) {
    const from = process.hrtime();
    pass();
    const took = process.hrtime(from);
    nanos += took[0] * 1e9 + took[1];
    passes++;
  }
  return nanos / passes;
}

function show(value) {
  const text = JSON.stringify(value);
  return text === undefined ? String(value) : text.slice(0, 60);
}

function exit() {
  process.exit();
}
