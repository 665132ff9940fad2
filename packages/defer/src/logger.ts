/** Gets failures and recoveries, e.g. `console`. */
export interface DeferLogger {
  warn(message: string, error?: unknown): void;
  log(message: string): void;
}
