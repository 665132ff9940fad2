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
  readonly #all: number;
  /** Of one change, as long as none has shown it. */
  readonly #secondsEach: number;
  readonly #glyphs = glyphsFor(usesUnicode());
  #toTry: number;
  #tried = 0;
  #spentMs = 0;

  constructor(candidates: readonly Candidate[], proofs: EarlierProofs, secondsEach: number) {
    this.#all = candidates.length;
    this.#secondsEach = secondsEach;
    this.#toTry = candidates.filter((each) => proofs.of(each) === undefined).length;
    for (const text of resumption(candidates, proofs)) this.#say(text);
  }

  /** Tries one change: what it is before, and what came of it after. */
  async attempt(index: number, candidate: Candidate, run: () => Promise<Proof>): Promise<Proof> {
    const left = seconds(this.#toTry * this.#meanSeconds());
    const number = `change ${index + 1} of ${this.#all}`;
    this.#say(`${number}, ${placeOf(candidate)}; about ${left} left, then the ladder`);
    const startedAt = performance.now();
    const proof = await run();
    // What fails is over before it is measured, and says nothing of the others.
    if (proof.word !== 'fails') {
      this.#spentMs += performance.now() - startedAt;
      this.#tried += 1;
    }
    this.#toTry -= 1;
    this.#say(`${number}: ${proofText(proof)}`);
    return proof;
  }

  ladder(rungs: number): void {
    const left = seconds(rungs * this.#meanSeconds());
    this.#say(`a ladder of the ${rungs} changes that gain; about ${left} left`);
  }

  #meanSeconds(): number {
    if (this.#tried === 0) return this.#secondsEach + guessedSecondsBeside;
    return this.#spentMs / 1_000 / this.#tried;
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
