import { plural, seconds } from '../../report/format.ts';
import { glyphsFor } from '../../report/glyphs.ts';
import { usesUnicode } from '../../report/colour.ts';
import type { Candidate } from '../examine.ts';
import { proofText } from '../report/doctor-rows.ts';
import type { Proof } from '../result.ts';
import type { EarlierProofs } from './earlier-proofs.ts';

/** Building and testing one change, before any has shown how long that takes. */
const guessedSecondsToMake = 20;

/** What a person reads while changes are proved, which takes minutes: lines that stay, each with the time left. */
export class ProveLog {
  readonly #candidates: readonly Candidate[];
  readonly #glyphs = glyphsFor(usesUnicode());
  /** What measuring one change takes. */
  #secondsEach: number;
  #toMeasure: number;
  #toMake: number;
  #made = 0;
  #makingMs = 0;
  #makingSince: number | undefined;
  #measuring: { since: number; count: number } | undefined;

  constructor(candidates: readonly Candidate[], proofs: EarlierProofs, secondsEach: number) {
    this.#candidates = candidates;
    this.#secondsEach = secondsEach;
    this.#toMeasure = candidates.filter((each) => proofs.of(each) === undefined).length;
    this.#toMake = this.#toMeasure;
    for (const text of resumption(candidates, proofs)) this.#say(text);
  }

  /** A change is about to be made, built and tested. */
  begin(candidate: Candidate): void {
    this.#endMaking();
    this.#makingSince = performance.now();
    this.#say(`${this.#nameOf(candidate)}, ${placeOf(candidate)}; ${this.#left()}`);
  }

  /** One more tree could not be made, so fewer changes are measured at a time. */
  limited(most: number, { message }: Error): void {
    this.#say(`no more than ${plural(most, 'change')} at a time: ${message.split('\n', 1)[0]}`);
  }

  measure(count: number): void {
    this.#endMaking();
    this.#measuring = { since: performance.now(), count };
    const them = count === 1 ? 'that change' : `these ${count} changes`;
    this.#say(`measuring ${them} beside the app as it is; ${this.#left()}`);
  }

  done(candidate: Candidate, proof: Proof): void {
    this.#endMaking();
    if (this.#measuring !== undefined) {
      const { since, count } = this.#measuring;
      const took = (performance.now() - since) / 1_000 / count;
      // Four restarts may take longer than the time that was asked for.
      this.#secondsEach = Math.max(this.#secondsEach, took);
      this.#measuring = undefined;
    }
    this.#toMeasure -= 1;
    this.#say(`${this.#nameOf(candidate)}: ${proofText(proof)}`);
  }

  ladder(rungs: number): void {
    const left = seconds(rungs * (this.#secondsEach + this.#secondsToMake()));
    this.#say(`a ladder of the ${rungs} changes that gain; about ${left} left`);
  }

  #nameOf(candidate: Candidate): string {
    return `change ${this.#candidates.indexOf(candidate) + 1} of ${this.#candidates.length}`;
  }

  #left(): string {
    const left = this.#toMeasure * this.#secondsEach + this.#toMake * this.#secondsToMake();
    return `about ${seconds(left)} left, then the ladder`;
  }

  #secondsToMake(): number {
    return this.#made === 0 ? guessedSecondsToMake : this.#makingMs / 1_000 / this.#made;
  }

  #endMaking(): void {
    if (this.#makingSince === undefined) return;
    this.#makingMs += performance.now() - this.#makingSince;
    this.#makingSince = undefined;
    this.#made += 1;
    this.#toMake -= 1;
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
