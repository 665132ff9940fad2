import { plural, seconds } from '../../report/format.ts';
import { glyphsFor } from '../../report/glyphs.ts';
import { usesUnicode } from '../../report/colour.ts';
import type { Candidate } from '../examine.ts';
import { proofText } from '../report/doctor-rows.ts';
import type { Proof } from '../result.ts';
import type { EarlierProofs } from './earlier-proofs.ts';

/** Initial estimate for building and testing one change. */
const guessedSecondsToMake = 20;

/** Log shown while changes are proved, which takes minutes: permanent lines, each with the time left. */
export class ProveLog {
  readonly #candidates: readonly Candidate[];
  readonly #glyphs = glyphsFor(usesUnicode());
  /** Time to measure one change. */
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

  /** Announces that a change is being made, built and tested. */
  begin(candidate: Candidate): void {
    this.#endMaking();
    this.#makingSince = performance.now();
    this.#say(`${this.#nameOf(candidate)}, ${placeOf(candidate)}; ${this.#left()}`);
  }

  /** Reports that no further tree could be made, so fewer changes are measured at a time. */
  limited(limit: number, { message }: Error): void {
    this.#say(`no more than ${plural(limit, 'change')} at a time: ${message.split('\n', 1)[0]}`);
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
      // Four restarts may take longer than the requested time.
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

/** Lists the proofs reused from an earlier run, and the changes tried again with the reason. */
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
