// A loop that takes a given CPU time of the processor as it is at the moment, and does nothing else: no memory, no clock
// but now and then. A loop that asks the clock at every turn makes a number on the heap each time: 7 KB for 20 µs, which
// the rest of the request pays for with a tenth as much again. A loop of counted turns is as long as the processor is
// slow. So the turns are counted, and their number follows the processor: now and then the loop runs some hundred times
// in a row, by the same clock that stairs reads, and what it took on an undisturbed occasion sets the number.
const rehearseEvery = 16_384;
/** As long as from one interrupt of the clock to the next: an undisturbed slice has those too. */
const rehearsalMicros = 4_000;
const rehearsalsKept = 12;

/**
 * `do { value = value * 1664525 + 1 } while (--count)`. In WebAssembly, for it is the same code wherever it is called from;
 * a function of JavaScript would be inlined into both its callers, and once be optimised and once not.
 */
const { turn } = new WebAssembly.Instance(
  new WebAssembly.Module(
    // prettier-ignore
    new Uint8Array([
      0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00,
      0x01, 0x07, 0x01, 0x60, 0x02, 0x7f, 0x7f, 0x01, 0x7f,
      0x03, 0x02, 0x01, 0x00,
      0x07, 0x08, 0x01, 0x04, 0x74, 0x75, 0x72, 0x6e, 0x00, 0x00,
      0x0a, 0x1f, 0x01, 0x1d, 0x00, 0x03, 0x40,
      0x20, 0x01, 0x41, 0x8d, 0xcc, 0xe5, 0x00, 0x6c, 0x41, 0x01, 0x6a, 0x21, 0x01,
      0x20, 0x00, 0x41, 0x01, 0x6b, 0x22, 0x00, 0x0d, 0x00, 0x0b, 0x20, 0x01, 0x0b,
    ]),
  ),
).exports;

export class BusyLoop {
  #micros;
  #turns;
  #calls = 0;
  /** Of the last rehearsals: µs of a turn. */
  #perTurn = [];

  constructor(micros) {
    this.#micros = micros;
    this.#turns = micros * 300;
    for (let count = 0; count < 40; count++) this.#rehearse();
  }

  run() {
    turn(this.#turns, 1);
    if (++this.#calls % rehearseEvery === 0) this.#rehearse();
  }

  /** Rare enough that most slices hold none, and the undisturbed ones that count hold none. */
  #rehearse() {
    const times = Math.ceil(rehearsalMicros / this.#micros);
    const before = threadMicros();
    for (let count = 0; count < times; count++) turn(this.#turns, 1);
    this.#perTurn.push((threadMicros() - before) / times / this.#turns);
    if (this.#perTurn.length > rehearsalsKept) this.#perTurn.shift();
    const quickest = this.#perTurn.toSorted((a, b) => a - b).slice(0, rehearsalsKept / 4);
    const typical = quickest.reduce((sum, each) => sum + each, 0) / quickest.length;
    this.#turns = Math.max(1, Math.round(this.#micros / typical));
  }
}

/** The clock of the thread stands still between two looks of the scheduler; that of the process brings it up to date. */
function threadMicros() {
  process.cpuUsage();
  const { user, system } = process.threadCpuUsage();
  return user + system;
}
