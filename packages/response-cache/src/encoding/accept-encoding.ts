/** The content codings in which responses are kept, by their names in `Content-Encoding`. */
export type Encoding = 'br' | 'zstd' | 'gzip';

const maxRemembered = 256;

/* RFC 9110, section 12.4.2. An element with any other weight is ignored. */
const weight = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;
const token = /^[\w!#$%&'*+.^`|~-]+$/;

/** Chooses the coding of a response, by RFC 9110, section 12.5.3. The engine of `@redline/http` does the same. */
export class AcceptEncoding {
  readonly #encodings: readonly Encoding[];
  /* Clients send few different values. */
  readonly #chosen = new Map<string, Encoding | undefined>();

  /** @param encodings the available ones, the preferred one first */
  constructor(encodings: readonly Encoding[]) {
    this.#encodings = encodings;
  }

  /** Returns undefined for no coding, even if the client refuses that and accepts none of the others. */
  choose(header: string | undefined): Encoding | undefined {
    if (header === undefined) return undefined;
    const known = this.#chosen.get(header);
    if (known !== undefined || this.#chosen.has(header)) return known;
    const chosen = chooseEncoding(header, this.#encodings);
    if (this.#chosen.size >= maxRemembered) this.#chosen.clear();
    this.#chosen.set(header, chosen);
    return chosen;
  }
}

/** Returns the coding with the greatest weight; of several, the first in `encodings`. */
export function chooseEncoding(
  header: string,
  encodings: readonly Encoding[],
): Encoding | undefined {
  const weights = weightsOf(header);
  const others = weights.get('*');
  const plain = weights.get('identity') ?? others ?? 0;
  let chosen: Encoding | undefined;
  let greatest = 0;
  for (const encoding of encodings) {
    const own = weights.get(encoding) ?? others ?? 0;
    if (own > greatest && own >= plain) [chosen, greatest] = [encoding, own];
  }
  return chosen;
}

/* Of several elements with one name, the last one counts. */
function weightsOf(header: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const element of header.split(',')) {
    const [name, ...parameters] = element
      .split(';')
      .map((part) => part.replace(/^[ \t]+|[ \t]+$/g, '').toLowerCase());
    if (!token.test(name!)) continue;
    const given = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    if (given !== undefined && !weight.test(given)) continue;
    weights.set(name === 'x-gzip' ? 'gzip' : name!, given === undefined ? 1 : Number(given));
  }
  return weights;
}
