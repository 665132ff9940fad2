import { cut } from './columns.ts';
import { type Glyphs, glyphsFor } from './glyphs.ts';
import { usesUnicode } from './colour.ts';
import type { ProgressStream } from './progress.ts';

const sayAfterMs = 10_000;

/** Shows the current phase of commands without rounds: one redrawn line on a terminal, otherwise one line per phase. */
export class PhaseLine implements Disposable {
  readonly #stream: ProgressStream;
  readonly #live: boolean;
  readonly #glyphs: Glyphs;
  readonly #subject: string;
  readonly #ticker: NodeJS.Timeout;
  #text = '';
  #since = 0;

  constructor(subject: string, stream: ProgressStream = process.stderr) {
    this.#subject = subject;
    this.#stream = stream;
    this.#live = stream.isTTY === true && process.env['TERM'] !== 'dumb';
    this.#glyphs = glyphsFor(usesUnicode());
    this.#ticker = setInterval(
      () => (this.#live ? this.#draw() : this.#sayAgain()),
      this.#live ? 1_000 : sayAfterMs,
    ).unref();
  }

  /** Clears the line before other output. */
  clear(): void {
    if (this.#live && this.#text !== '') this.#stream.write('\r\x1b[K');
    this.#text = '';
  }

  show(text: string): void {
    if (text === this.#text) return;
    this.#text = text;
    this.#since = Date.now();
    this.#ticker.refresh();
    if (this.#live) this.#draw();
    else this.#stream.write(`${this.#glyphs.text(`${this.#subject}: ${text}`)}\n`);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#ticker);
    this.clear();
  }

  /** Repeats the line: a log without output for a minute looks like a command that hangs. */
  #sayAgain(): void {
    if (this.#text === '') return;
    const elapsed = Math.round((Date.now() - this.#since) / 1_000);
    this.#stream.write(`${this.#glyphs.text(`${this.#subject}: ${this.#text}, ${elapsed} s`)}\n`);
  }

  #draw(): void {
    if (this.#text === '') return;
    const elapsed = Math.round((Date.now() - this.#since) / 1_000);
    const line = `${this.#subject}: ${this.#text}${elapsed > 0 ? ` ${elapsed} s` : ''}`;
    const width = Math.min(80, this.#stream.columns ?? 80) - 1;
    this.#stream.write(`\r\x1b[K${this.#glyphs.text(cut(line, width))}`);
  }
}
