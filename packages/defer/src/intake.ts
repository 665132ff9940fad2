import type { AcknowledgeLimit } from './acknowledge-limit.ts';
import type { Journaling } from './journaling.ts';
import type { JobHome } from './lane/lane-host.ts';
import { makeRoom } from './overflow.ts';
import type { PendingJob } from './pending-job.ts';
import { withdrawn } from './refusals.ts';
import type { Scope } from './scope.ts';

export interface IntakeHost {
  /** Undefined without a journal. */
  readonly journaling: Journaling | undefined;
  readonly limit: AcknowledgeLimit;
  isClosed(): boolean;
}

/** The way of a job from its call to its lane: by the journal where its level says so, and by the request's outcome. */
export class Intake implements JobHome {
  readonly #host: IntakeHost;

  constructor(host: IntakeHost) {
    this.#host = host;
  }

  /**
   * Takes a new job, for the request it was deferred in.
   *
   * @throws {DeferError} ERR_REDLINE_DEFER_FULL
   */
  accept(job: PendingJob, scope: Scope | undefined): PendingJob {
    const runsNow = scope === undefined || scope.hasEnded;
    const suits = scope === undefined ? job.when !== 'aborted' : scope.suits(job.when);
    if (runsNow && !suits) {
      job.acknowledge(withdrawn());
      return job;
    }
    const { lane, level } = job;
    const { journaling, limit } = this.#host;
    // Jobs whose outcome is open are kept in memory until then; only the reply's own status decides on them.
    const isCertain = runsNow || job.when === 'always';
    const journals = job.isJournaled;
    if (!journals && lane.isFull) {
      if (!makeRoom(job, journaling, limit)) return job;
    } else if (level === 'memory') {
      job.acknowledge(undefined);
    }
    if (isCertain && journals) journaling!.add(job);
    if (scope?.canHold && isCertain && !job.isAcknowledged) scope.await(job);
    if (runsNow || (level === 'sink' && isCertain)) {
      this.deliver(job);
    } else {
      lane.reserve();
      job.isReserved = true;
      scope.add(job);
    }
    return job;
  }

  /** Hands the job to its lane. */
  deliver(job: PendingJob): void {
    const { journaling, limit } = this.#host;
    job.isUnderway = true;
    if (job.level === 'memory' && job.place === undefined && job.lane.isBehindSpilled) {
      journaling!.addLate(job);
    }
    if (job.level === 'sink' && !job.isRelayed) limit.watch(job);
    job.lane.enqueue(job);
  }

  secure(job: PendingJob, scope: Scope): void {
    if (job.level === 'memory') return;
    scope.await(job);
    if (job.level === 'sink') this.deliver(job);
    else this.#host.journaling!.addLate(job);
  }

  dispatch(job: PendingJob): void {
    unreserve(job);
    if (job.isUnderway) return;
    if (this.#host.isClosed()) {
      // Its lane is gone. What the journal has, the next process finds there.
      if (job.place === undefined) job.lane.drop(job, 'exit');
      return;
    }
    if (job.isJournaled && job.place === undefined) this.#host.journaling!.addLate(job);
    this.deliver(job);
  }

  withdraw(job: PendingJob): void {
    unreserve(job);
    if (job.isUnderway) return;
    job.place?.journal.done(job.place);
    job.acknowledge(withdrawn());
  }
}

function unreserve(job: PendingJob): void {
  if (!job.isReserved) return;
  job.isReserved = false;
  job.lane.unreserve();
}
