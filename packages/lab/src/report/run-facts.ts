/** Facts about its run in the JSON file of every command. */
export interface RunFacts {
  /** Command line as typed, e.g. `redline ladder redline.config.ts --quick`. */
  invocation: string;
  runId: string;
  redlineVersion: string;
  /** ISO 8601, UTC. */
  startedAt: string;
}
