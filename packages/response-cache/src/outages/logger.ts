/** Gets one line when the store goes down and one when it is available again, e.g. `console`. */
export interface CacheLogger {
  warn(message: string): void;
  log(message: string): void;
}
