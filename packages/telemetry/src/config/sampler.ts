import { invalid, type Variables } from './variables.ts';

/** The sampling of a trace at its head. */
export interface SamplerConfig {
  readonly root: 'always_on' | 'always_off' | 'ratio';
  /** The share of traces that `ratio` keeps. */
  readonly ratio: number;
  /** True if a request that continues a trace follows the decision of its caller. */
  readonly isParentBased: boolean;
}

const PARENT_BASED = 'parentbased_';
const NAMES = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
const FOREIGN = ['jaeger_remote', 'parentbased_jaeger_remote', 'xray'];

export function readSampler(read: Variables): SamplerConfig {
  const name = read.choice('OTEL_TRACES_SAMPLER', NAMES, FOREIGN) ?? 'parentbased_always_on';
  const isParentBased = name.startsWith(PARENT_BASED);
  const root = (isParentBased ? name.slice(PARENT_BASED.length) : name) as
    | 'always_on'
    | 'always_off'
    | 'traceidratio';
  if (root !== 'traceidratio') return { root, ratio: 1, isParentBased };
  return { root: 'ratio', ratio: readRatio(read), isParentBased };
}

function readRatio(read: Variables): number {
  const variable = 'OTEL_TRACES_SAMPLER_ARG';
  const accepts = 'a number from 0 to 1';
  const isRatio = (value: number) => value >= 0 && value <= 1;
  const ratio = read.number(variable, isRatio, accepts);
  if (ratio === undefined) throw invalid(variable, '', `${accepts}, which the sampler needs`);
  return ratio;
}
