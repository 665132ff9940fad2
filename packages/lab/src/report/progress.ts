import type { Interval } from '../figures.ts';
import { clamp } from './axis.ts';
import { usesUnicode } from './colour.ts';
import { cut, left, right } from './columns.ts';
import { columnDecimals, fixed, range, seconds } from './format.ts';
import { type Glyphs, glyphsFor } from './glyphs.ts';
import { noiseText } from './words.ts';

export interface ProgressEvent {
  round: number;
  rounds: number;
  /** Fraction of the whole run that is done, 0 to 1. */
  fraction: number;
  variant: string;
  secondsLeft?: number;
  soFar?: { name: string; ratio: Interval };
  /** Current interval of the A/A control, as fractions. */
  noise?: { rps: number; cpu: number };
  /** Current step for the variant while it is not being measured. */
  phase?: string;
}

export interface ProgressOptions {
  /** @default process.stderr */
  stream?: ProgressStream;
  /** Redraw in place. @default true if the stream is a terminal */
  live?: boolean;
  /** @default true if the locale is UTF-8 */
  unicode?: boolean;
  /** Without a terminal, the time without output after which the last event is repeated. @default 10_000 */
  sayAfterMs?: number;
}

export interface ProgressStream {
  write(text: string): unknown;
  isTTY?: boolean | undefined;
  columns?: number | undefined;
}

const BAR_CELLS = 20;
const WIDTH = 80;
const HIDE_CURSOR = '\x1b[?25l';
const SHOW_CURSOR = '\x1b[?25h';
const CLEAR_BELOW = '\x1b[0J';

const defaultSayAfterMs = 10_000;

/** Shows two lines redrawn in place on a terminal; otherwise one line per round, and one every ten seconds. */
export class Progress {
  readonly #stream: ProgressStream;
  readonly #live: boolean;
  readonly #glyphs: Glyphs;
  #drawn: string[] = [];
  #lastRound = 0;
  #event: ProgressEvent | undefined;
  #ticker: NodeJS.Timeout | undefined;

  constructor(options: ProgressOptions = {}) {
    this.#stream = options.stream ?? process.stderr;
    this.#live = options.live ?? (this.#stream.isTTY === true && process.env['TERM'] !== 'dumb');
    this.#glyphs = glyphsFor(options.unicode ?? usesUnicode());
    if (this.#live) return;
    this.#ticker = setInterval(() => this.#sayAgain(), options.sayAfterMs ?? defaultSayAfterMs);
    this.#ticker.unref();
  }

  /** Keeps the previous values of fields that an event omits. */
  update(event: ProgressEvent): void {
    const soFar = event.soFar ?? this.#event?.soFar;
    const noise = event.noise ?? this.#event?.noise;
    this.#event = { ...event, ...(soFar && { soFar }), ...(noise && { noise }) };
    if (this.#live) this.#draw(this.#lines(this.#event));
    else if (event.round !== this.#lastRound) {
      this.#print(this.#roundLine(this.#event));
      this.#ticker?.refresh();
    }
    this.#lastRound = event.round;
  }

  /** Prints a line that stays, e.g. for a set-up step. */
  note(text: string): void {
    const drawn = this.#drawn;
    this.#erase();
    this.#print(text);
    if (drawn.length > 0) this.#draw(drawn);
  }

  /** Erases the lines and restores the cursor. Safe to call twice, and on abort. */
  end(): void {
    clearInterval(this.#ticker);
    if (this.#drawn.length === 0) return;
    this.#erase();
    this.#stream.write(SHOW_CURSOR);
    process.removeListener('exit', this.#restore);
  }

  // A process that exits while lines are drawn would leave the shell without a cursor.
  readonly #restore = (): void => {
    this.#stream.write(SHOW_CURSOR);
  };

  #draw(lines: string[]): void {
    if (this.#drawn.length === 0) {
      this.#stream.write(HIDE_CURSOR);
      process.removeListener('exit', this.#restore);
      process.once('exit', this.#restore);
    }
    this.#erase();
    // One column less than available: a full line would wrap, which makes the count of lines to go back wrong.
    const width = Math.min(WIDTH, (this.#stream.columns ?? WIDTH) - 1);
    this.#drawn = lines.map((line) => cut(this.#glyphs.text(line), width).trimEnd());
    this.#stream.write(`${this.#drawn.join('\n')}\n`);
  }

  #erase(): void {
    if (this.#drawn.length > 0) this.#stream.write(`\x1b[${this.#drawn.length}A\r${CLEAR_BELOW}`);
    this.#drawn = [];
  }

  #print(line: string): void {
    this.#stream.write(`${this.#glyphs.text(line).trimEnd()}\n`);
  }

  #lines(event: ProgressEvent): string[] {
    const { round, rounds, fraction, secondsLeft, soFar, noise } = event;
    const width = String(rounds).length;
    const start = `round ${right(String(round), width)}/${rounds} ${this.#bar(fraction)} ${right(fixed(clamp(fraction) * 100), 3)} %  `;
    const time = secondsLeft === undefined ? '' : `${seconds(secondsLeft)} left`;
    const room = WIDTH - 1 - [...start].length - [...time].length - 1;
    const first = `${start}${left(cut(subject(event), room), room)} ${time}`;
    const second = [
      ...(soFar
        ? [
            `so far ${soFar.name === event.variant ? '' : `${cut(soFar.name, 24)} `}${ratioText(soFar.ratio)}`,
          ]
        : []),
      ...(noise ? [`A/A ${noiseText(noise)}`] : []),
    ].join('   ');
    return [first, second === '' ? '' : ' '.repeat(`round ${rounds}/${rounds} `.length) + second];
  }

  #sayAgain(): void {
    if (this.#event === undefined) return;
    const { fraction, secondsLeft } = this.#event;
    const time = secondsLeft === undefined ? '' : `, ${seconds(secondsLeft)} left`;
    this.#print(`${this.#roundLine(this.#event)}: ${fixed(clamp(fraction) * 100)} %${time}`);
  }

  #roundLine(event: ProgressEvent): string {
    const { round, rounds, soFar } = event;
    const of = soFar && soFar.name !== event.variant ? `; ${soFar.name}` : '';
    const ratio = soFar ? `${of} ${fixed(soFar.ratio.value, 2)} ×` : '';
    return `round ${round}/${rounds} ${subject(event)}${ratio}`;
  }

  #bar(fraction: number): string {
    const { barOpen, barClose, barSteps } = this.#glyphs;
    const steps = Math.round(clamp(fraction) * BAR_CELLS * barSteps.length);
    const full = Math.floor(steps / barSteps.length);
    const part = steps % barSteps.length;
    const filled = (barSteps.at(-1) ?? '#').repeat(full) + (part > 0 ? barSteps[part - 1] : '');
    return `${barOpen}${left(filled, BAR_CELLS)}${barClose}`;
  }
}

function subject({ variant, phase }: ProgressEvent): string {
  return phase === undefined || phase === '' ? variant : `${variant}, ${phase}`;
}

function ratioText(ratio: Interval): string {
  const decimals = columnDecimals([ratio], 2);
  return `${fixed(ratio.value, decimals)} × ${range(ratio, decimals)}`;
}
