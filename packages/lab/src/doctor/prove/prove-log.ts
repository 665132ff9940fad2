import { plural, seconds } from '../../report/format.ts';
import { glyphsFor } from '../../report/glyphs.ts';
import { usesUnicode } from '../../report/colour.ts';
import type { Candidate } from '../examine.ts';
import { proofText } from '../report/doctor-rows.ts';
import type { Proof } from '../result.ts';
import type { EarlierProofs } from './earlier-proofs.ts';

/** Building and testing, beside `--each`, before any change has shown how long that takes. */
const guessedSecondsBeside = 20;

/** What a person reads while changes are proved, which takes minutes: lines that stay, each with the time left. */
export class ProveLog {
  readonly #candidates: readonly Candidate[];
  /** Of one change, as long as none has shown it. */
  readonly #secondsEach: number;
  readonly #glyphs = glyphsFor(usesUnicode());
  readonly #startedAt = performance.now();
  #toTry: number;
  #measured = 0;
  #measuredAt = this.#startedAt;

  constructor(candidates: readonly Candidate[], proofs: EarlierProofs, secondsEach: number) {
    this.#candidates = candidates;
    this.#secondsEach = secondsEach;
    this.#toTry = candidates.filter((each) => proofs.of(each) === undefined).length;
    for (const text of resumption(candidates, proofs)) this.#say(text);
  }

  /** A change is made, built and tested. */
  begin(candidate: Candidate): void {
    this.#say(`${this.#nameOf(candidate)}, ${placeOf(candidate)}; ${this.#left()}`);
  }

  measure(count: number): void {
    const them = count === 1 ? 'that change' : `these ${count} changes`;
    this.#say(`measuring ${them} beside the app as it is; ${this.#left()}`);
  }

  done(candidate: Candidate, proof: Proof): void {
    // What fails is over before it is measured, and says nothing of the others.
    if (proof.word !== 'fails') {
      this.#measured += 1;
      this.#measuredAt = performance.now();
    }
    this.#toTry -= 1;
    this.#say(`${this.#nameOf(candidate)}: ${proofText(proof)}`);
  }

  ladder(rungs: number): void {
    const left = seconds(rungs * this.#meanSeconds());
    this.#say(`a ladder of the ${rungs} changes that gain; about ${left} left`);
  }

  #nameOf(candidate: Candidate): string {
    return `change ${this.#candidates.indexOf(candidate) + 1} of ${this.#candidates.length}`;
  }

  #left(): string {
    const since = (performance.now() - this.#measuredAt) / 1_000;
    const left = Math.max(this.#secondsEach, this.#toTry * this.#meanSeconds() - since);
    return `about ${seconds(left)} left, then the ladder`;
  }

  #meanSeconds(): number {
    if (this.#measured === 0) return this.#secondsEach + guessedSecondsBeside;
    return (this.#measuredAt - this.#startedAt) / 1_000 / this.#measured;
  }

  #say(text: string): void {
    process.stderr.write(`${this.#glyphs.text(`prove: ${text}`)}\n`);
  }
}

/** What an earlier run spares this one, and what of it is tried again and why. */
export function resumption(candidates: readonly Candidate[], proofs: EarlierProofs): string[] {
  if (!proofs.isContinued) return [];
  const known = candidates.filter((each) => proofs.of(each) !== undefined).length;
  const again = candidates.flatMap((each) => {
    const why = proofs.whyAgain(each);
    return why === undefined ? [] : `${placeOf(each)} is tried again: ${why}`;
  });
  return [
    `${plural(known, 'change')} of ${candidates.length} measured by an earlier run`,
    ...again,
  ];
}

export function placeOf({ finding: { rule, file, line } }: Candidate): string {
  return `${rule} at ${file}:${line}`;
}
