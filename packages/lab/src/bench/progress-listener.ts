import type { Plan } from '../config/resolve-plan.ts';
import { Progress } from '../report/progress.ts';
import type { Slice } from './result.ts';
import { cpuMetric, type Metric, pairedRatio, rpsMetric } from './paired-ratio.ts';
import { controlName, type RunListener } from './observations.ts';
import { seededRandom } from '../stats/random.ts';
import { bandOf } from '../stats/verdict.ts';

/** Enough for two digits; the report's intervals take fifty times as many. */
const roughResamples = 200;
/** Shares of a restart's time, as measured: start and warm-up, then the blocks, then latency. */
const shareBeforeBlocks = 0.3;
const shareOfBlocks = 0.55;

/** Turns the runner's events into progress lines. */
export class ProgressListener implements RunListener {
  readonly #plan: Plan;
  readonly #progress = new Progress();
  readonly #startedAt = performance.now();
  readonly #random = seededRandom(1);
  #fraction = 0;
  #roughUntil = 0;

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  phase(phase: string, restart: number, variant = ''): void {
    this.#draw(restart, variant || phase, variant === '' ? {} : { phase });
  }

  measured(slices: readonly Slice[], restart: number, block: number): void {
    const { precision, variants } = this.#plan;
    const { variant } = slices.at(-1)!;
    const perRestart = precision.blocks * (variants.length + 1);
    const own = slices.filter((slice) => slice.restart === restart);
    const done = Math.min(1, own.length / perRestart);
    this.#advance(restart - 1 + shareBeforeBlocks + done * shareOfBlocks);
    // Once per block, because the computation itself runs on the load's cores.
    const place = restart * precision.blocks + Math.min(block, precision.blocks);
    if (place > this.#roughUntil && done > 0) {
      this.#roughUntil = place;
      this.#draw(restart, variant, this.#estimate(slices));
    } else {
      this.#draw(restart, variant);
    }
  }

  end(): void {
    this.#progress.end();
  }

  #advance(restarts: number): void {
    this.#fraction = Math.max(this.#fraction, restarts / this.#plan.precision.restarts);
  }

  /** Estimates the last variant of the config: on a ladder, the top. */
  #estimate(slices: readonly Slice[]): object {
    const { baseline, variants } = this.#plan;
    const control = controlName(baseline);
    const measured = new Set(slices.map(({ variant }) => variant));
    const top = variants.findLast(({ name }) => measured.has(name) && name !== baseline)?.name;
    const rough = (name: string, metric: Metric) =>
      pairedRatio({ slices, name, others: [baseline] }, metric, this.#random, roughResamples);
    const noise = measured.has(control)
      ? {
          noise: {
            rps: bandOf(rough(control, rpsMetric)),
            cpu: bandOf(rough(control, cpuMetric)),
          },
        }
      : {};
    if (top === undefined || !measured.has(baseline)) return {};
    return { soFar: { name: top, ratio: rough(top, rpsMetric) }, ...noise };
  }

  #draw(restart: number, variant: string, more: object = {}): void {
    const { restarts } = this.#plan.precision;
    this.#advance(restart - 1);
    const elapsed = (performance.now() - this.#startedAt) / 1_000;
    // Before a tenth is done, an extrapolation says nothing.
    const secondsLeft =
      this.#fraction > 0.1
        ? { secondsLeft: (elapsed / this.#fraction) * (1 - this.#fraction) }
        : {};
    this.#progress.update({
      round: restart,
      rounds: restarts,
      fraction: this.#fraction,
      variant,
      ...secondsLeft,
      ...more,
    });
  }
}
