/** Options for ending a child with its descendants. */
export interface KillTreeOptions {
  /**
   * Time for processes to end after a signal that asks them to, in milliseconds; then they are killed.
   * @default 5000
   */
  readonly graceMs?: number;
}

/** Resources used by a child and the processes it has waited for; names and units are those of `process.resourceUsage()`. */
export interface ChildResourceUsage {
  /** CPU time outside of the kernel, in microseconds. */
  readonly userCPUTime: number;
  /** CPU time in the kernel, in microseconds. */
  readonly systemCPUTime: number;
  /**
   * Peak of the resident memory, in KiB. `undefined` if it is not clearly above the parent's own: the kernel counts the
   * memory that a child has before its exec, which is the parent's.
   */
  readonly maxRSS: number | undefined;
  /** Number of times it waited for an event. */
  readonly voluntaryContextSwitches: number;
  /** Number of times it was preempted. */
  readonly involuntaryContextSwitches: number;
}

/** Options beyond those of `node:child_process`, which ignores them. All are off by default. */
export interface ExtraOptions {
  /**
   * `kill()`, `timeout`, `signal` and, in `exec` and `execFile`, `maxBuffer` end all descendants of the child with it,
   * including those that have left its process group or session.
   * @default false
   */
  killTree?: boolean | KillTreeOptions | undefined;
  /**
   * The kernel kills the child when this process ends, for any reason.
   * @default false
   */
  dieWithParent?: boolean | undefined;
  /**
   * Sets `child.resourceUsage` from "exit" on, and `resourceUsage` in the results of `exec`, `execFile` and the Sync
   * functions.
   * @default false
   */
  resourceUsage?: boolean | undefined;
}

declare module 'node:child_process' {
  interface CommonOptions extends ExtraOptions {}

  interface ChildProcess {
    /** With the option `resourceUsage`, from "exit" on. */
    readonly resourceUsage?: ChildResourceUsage | undefined;
  }

  interface SpawnSyncReturns<T> {
    /** With the option `resourceUsage`. */
    resourceUsage?: ChildResourceUsage | undefined;
  }

  interface ExecException {
    /** With the option `resourceUsage`. */
    resourceUsage?: ChildResourceUsage | undefined;
  }
}
