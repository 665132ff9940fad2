import { digestOf, readStored, store } from '../../command/stored-run.ts';
import type { Candidate } from '../examine.ts';
import type { Proof } from '../result.ts';

interface ProofFile {
  schema: 2;
  /** Digest of the inputs, including the commit; they may contain secrets, so only the digest is written. */
  asked: string;
  /** All completed proofs, including failures. */
  proofs: Record<string, Proof>;
  /** Changes that were being tried when the run ended. */
  underWay: string[];
}

/** Stores the proofs of a run as they are made, so that an interrupted run can be continued. */
export class EarlierProofs {
  readonly #file: string;
  /** Content left by an earlier run. */
  readonly #earlier: ProofFile;
  /** Content on disk. */
  readonly #content: ProofFile;
  /** True if an earlier run left something to continue. */
  readonly isContinued: boolean;

  private constructor(file: string, earlier: ProofFile) {
    this.#file = file;
    this.#earlier = earlier;
    this.#content = structuredClone(earlier);
    this.isContinued = Object.keys(earlier.proofs).length > 0 || earlier.underWay.length > 0;
  }

  /** @param asked Inputs that determine a proof, besides the change: another commit, command or request has other proofs. */
  static open(
    file: string,
    { asked, continues }: { asked: unknown; continues: boolean },
  ): EarlierProofs {
    const digest = digestOf(asked);
    const known = continues ? read(file) : undefined;
    const empty: ProofFile = { schema: 2, asked: digest, proofs: {}, underWay: [] };
    return new EarlierProofs(file, known?.asked === digest ? known : empty);
  }

  /** True if this run, or one that it continues, measured something. */
  get hasAny(): boolean {
    return Object.values(this.#content.proofs).some(isMeasured);
  }

  /** Returns the earlier run's proof of a change; undefined if the change is tried again. */
  of(candidate: Candidate): Proof | undefined {
    const proof = this.#earlier.proofs[keyOf(candidate)];
    return proof !== undefined && isMeasured(proof) ? proof : undefined;
  }

  /** Explains why a change that the earlier run started is tried again. */
  whyAgain(candidate: Candidate): string | undefined {
    const key = keyOf(candidate);
    // The interrupted run may have been retrying an earlier failure.
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

  /** Writes at once: a run may be interrupted at any time. */
  add(candidate: Candidate, proof: Proof): void {
    const key = keyOf(candidate);
    this.#content.proofs[key] = proof;
    this.#content.underWay = this.#content.underWay.filter((each) => each !== key);
    this.#write();
  }

  #write(): void {
    store(this.#file, `${JSON.stringify(this.#content, undefined, 2)}\n`);
  }
}

/** True for a conclusive proof: other failures may be due to the machine, a port or a missing package. */
function isMeasured({ word }: Proof): boolean {
  return word !== 'fails' && word !== 'withheld';
}

function read(file: string): ProofFile | undefined {
  const content = readStored<ProofFile>(file);
  return content?.schema === 2 ? content : undefined;
}

/** Identifies a change by its diff: other parts of a finding differ from profile to profile. */
function keyOf({ finding: { rule, diff }, preload }: Candidate): string {
  return `${rule} ${digestOf([diff, preload])}`;
}
