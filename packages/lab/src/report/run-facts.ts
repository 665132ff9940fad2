/** What the JSON file of every command says of its run. */
export interface RunFacts {
  /** Command line as typed, e.g. `redline ladder redline.config.ts --quick`. */
  invocation: string;
  runId: string;
  redlineVersion: string;
  /** ISO 8601, UTC. */
  startedAt: string;
}
