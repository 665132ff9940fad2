import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Candidate } from '../examine.ts';
import type { Proof } from '../result.ts';

interface ProofFile {
  schema: 2;
  /** Of what was asked, the commit included; it may hold secrets, so only its digest is written. */
  asked: string;
  /** All that was tried to its end, what failed included. */
  proofs: Record<string, Proof>;
  /** The changes that were being tried as the run ended. */
  underWay: string[];
}

/** The proofs of a run as they are made, so that one that was interrupted goes on where it was. */
export class EarlierProofs {
  readonly #file: string;
  /** What an earlier run left behind. */
  readonly #earlier: ProofFile;
  /** What is on the disk. */
  readonly #content: ProofFile;
  /** Whether there is something to go on with. */
  readonly isContinued: boolean;

  private constructor(file: string, earlier: ProofFile) {
    this.#file = file;
    this.#earlier = earlier;
    this.#content = structuredClone(earlier);
    this.isContinued = Object.keys(earlier.proofs).length > 0 || earlier.underWay.length > 0;
  }

  /** @param asked What decides on a proof, beside the change: another commit, command or request has other proofs. */
  static open(
    file: string,
    { asked, continues }: { asked: unknown; continues: boolean },
  ): EarlierProofs {
    const digest = digestOf(asked);
    const known = continues ? read(file) : undefined;
    const empty: ProofFile = { schema: 2, asked: digest, proofs: {}, underWay: [] };
    return new EarlierProofs(file, known?.asked === digest ? known : empty);
  }

  /** Whether this run, or one that it goes on with, measured something. */
  get hasAny(): boolean {
    return Object.values(this.#content.proofs).some(isMeasured);
  }

  /** What the earlier run measured of a change; undefined for what is tried again. */
  of(candidate: Candidate): Proof | undefined {
    const proof = this.#earlier.proofs[keyOf(candidate)];
    return proof !== undefined && isMeasured(proof) ? proof : undefined;
  }

  /** Why a change that the earlier run began is tried again. */
  whyAgain(candidate: Candidate): string | undefined {
    const key = keyOf(candidate);
    // The run that was interrupted may have tried again what failed before.
    if (this.#earlier.underWay.includes(key)) return 'it was under way when the run ended';
    const proof = this.#earlier.proofs[key];
    if (proof === undefined || isMeasured(proof)) return undefined;
    return proof.word === 'withheld'
      ? 'the app differed from itself then'
      : `it failed: ${proof.why}`;
  }

  begin(candidate: Candidate): void {
    this.#content.underWay.push(keyOf(candidate));
    this.#write();
  }

  /** Written at once: nobody knows when a run is interrupted. */
  add(candidate: Candidate, proof: Proof): void {
    const key = keyOf(candidate);
    this.#content.proofs[key] = proof;
    this.#content.underWay = this.#content.underWay.filter((each) => each !== key);
    this.#write();
  }

  #write(): void {
    mkdirSync(dirname(this.#file), { recursive: true });
    writeFileSync(this.#file, `${JSON.stringify(this.#content, undefined, 2)}\n`);
  }
}

/** The machine, a port or a package that was missing may have made the rest fail. */
function isMeasured({ word }: Proof): boolean {
  return word !== 'fails' && word !== 'withheld';
}

function read(file: string): ProofFile | undefined {
  try {
    const content = JSON.parse(readFileSync(file, 'utf8')) as ProofFile;
    return content.schema === 2 ? content : undefined;
  } catch {
    return undefined;
  }
}

/** The change itself: what else a finding says differs from profile to profile. */
function keyOf({ finding: { rule, diff }, preload }: Candidate): string {
  return `${rule} ${digestOf([diff, preload])}`;
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);
}
