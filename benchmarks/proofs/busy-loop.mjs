// A loop that takes a given CPU time of the processor as it is at the moment, and does nothing else: no memory, no clock
// but now and then. A loop that asks the clock at every turn makes a number on the heap each time: 7 KB for 20 µs, which
// the rest of the request pays for with a tenth as much again. A loop of counted turns is as long as the processor is
// slow. So the turns are counted, and their number follows the processor: now and then the loop runs some hundred times
// in a row, by the same clock that stairs reads, and what it took on an undisturbed occasion sets the number.
import { spin } from './spin.mjs';

const rehearseEvery = 16_384;
/** As long as from one interrupt of the clock to the next: an undisturbed slice has those too. */
const rehearsalMicros = 4_000;
const rehearsalsKept = 12;

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
    spin(this.#turns, 1);
    if (++this.#calls % rehearseEvery === 0) this.#rehearse();
  }

  /** Rare enough that most slices hold none, and the undisturbed ones that count hold none. */
  #rehearse() {
    const times = Math.ceil(rehearsalMicros / this.#micros);
    const before = threadMicros();
    for (let count = 0; count < times; count++) spin(this.#turns, 1);
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
