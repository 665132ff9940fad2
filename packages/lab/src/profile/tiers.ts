/** V8's tiers, slowest first. */
export const tiers = ['ignition', 'sparkplug', 'maglev', 'turbofan'] as const;

export type Tier = (typeof tiers)[number];

export const tierNames: Record<Tier, string> = {
  ignition: 'Ignition',
  sparkplug: 'Sparkplug',
  maglev: 'Maglev',
  turbofan: 'TurboFan',
};

/** V8's own marks before a function's name. */
export const tierMarks: Record<Tier, string> = {
  ignition: '~',
  sparkplug: '^',
  maglev: '+',
  turbofan: '*',
};

/**
 * The tier a mark in V8's log stands for. Full-codegen of Node 8 has no mark: a baseline compiler, as Sparkplug is.
 * What follows the mark (`+'`: concurrent, `*%`: on-stack replacement) does not change the tier.
 */
export function tierOfMark(mark: string): Tier | undefined {
  if (mark === '') return 'sparkplug';
  switch (mark[0]) {
    case '~':
      return 'ignition';
    case '^':
      return 'sparkplug';
    case '+':
    // Turboprop, the middle tier of Node 14 to 18, where it was switched on.
    case '-':
      return 'maglev';
    case '*':
      return 'turbofan';
    default:
      return undefined;
  }
}

/** Code made by an optimising compiler, from feedback that may turn out wrong. */
export function isOptimised(tier: Tier): boolean {
  return tier === 'maglev' || tier === 'turbofan';
}
