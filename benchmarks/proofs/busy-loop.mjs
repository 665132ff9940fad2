// A loop that takes a given time of the processor as it is at the moment, and does nothing else: no memory, no clock but
// now and then. A loop that asks the clock at every turn makes a number on the heap each time: 7 KB for 20 µs, which the
// rest of the request pays for with a tenth as much again. A loop of counted turns is as long as the processor is slow.
// So the turns are counted, and their number follows the processor.
const sampleEvery = 8;
const samplesPerStep = 100;
const isolatedRuns = 4_000;

export class BusyLoop {
  #micros;
  #turns;
  #calls = 0;
  #clockMicros = clockMicros();
  #samples = new Float64Array(samplesPerStep);
  #sampled = 0;
  #settled = false;

  constructor(micros) {
    this.#micros = micros;
    this.#turns = micros * 300;
    for (let call = 0; call < isolatedRuns; call++) this.run();
    this.#settled = true;
  }

  run() {
    if (++this.#calls % sampleEvery !== 0) return void turn(this.#turns);
    const start = performance.now();
    turn(this.#turns);
    this.#learn((performance.now() - start) * 1_000 - this.#clockMicros);
  }

  /** Twice as long as meant: a turn of the load came in the middle, and is not the loop's. Interrupts are. */
  #learn(micros) {
    if (micros > 2 * this.#micros && this.#settled) return;
    this.#samples[this.#sampled++] = micros;
    if (this.#sampled < samplesPerStep) return;
    this.#sampled = 0;
    const typical = this.#settled ? mean(this.#samples) : median(this.#samples);
    this.#turns = Math.max(1, Math.round((this.#turns * this.#micros) / typical));
  }
}

/** What asking the clock adds to what it shows. */
function clockMicros() {
  const samples = Float64Array.from({ length: isolatedRuns }, () => {
    const start = performance.now();
    return (performance.now() - start) * 1_000;
  });
  return median(samples);
}

function mean(samples) {
  return samples.reduce((sum, each) => sum + each, 0) / samples.length;
}

function median(samples) {
  return samples.sort()[Math.floor(samples.length / 2)];
}

let sink = 0;

function turn(turns) {
  let value = sink;
  for (let count = 0; count < turns; count++) value = (Math.imul(value, 1_664_525) + 1) | 0;
  sink = value;
}
