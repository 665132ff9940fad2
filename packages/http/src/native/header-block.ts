type Headers = Record<string, string | string[]>;

/** The headers of a request. All requests with the same bytes share one: it is not to be changed. */
export class HeaderBlock {
  /** Name, value, name, value, as they came. */
  readonly raw: readonly string[];
  /** What is derived from the block, kept with it by whoever derives it. */
  headers: Headers | undefined = undefined;

  constructor(raw: readonly string[]) {
    this.raw = raw;
  }
}
