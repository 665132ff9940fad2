type Headers = Record<string, string | string[]>;

/** The headers of a request. Requests with the same bytes may share one: it must not be changed. */
export class HeaderBlock {
  /** Name, value, name, value, as received. */
  readonly raw: readonly string[];
  /** The parsed headers, stored by the code that derives them. */
  headers: Headers | undefined = undefined;
  /** True if later requests may share it. */
  readonly isKept: boolean;

  constructor(raw: readonly string[], isKept: boolean) {
    this.raw = raw;
    this.isKept = isKept;
  }
}
