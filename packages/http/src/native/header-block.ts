type Headers = Record<string, string | string[]>;

/** The headers of a request. Requests with the same bytes may share one: it is not to be changed. */
export class HeaderBlock {
  /** Name, value, name, value, as they came. */
  readonly raw: readonly string[];
  /** What is derived from the block, kept with it by whoever derives it. */
  headers: Headers | undefined = undefined;
  /** Whether later requests may have it too. */
  readonly isKept: boolean;

  constructor(raw: readonly string[], isKept: boolean) {
    this.raw = raw;
    this.isKept = isKept;
  }
}
