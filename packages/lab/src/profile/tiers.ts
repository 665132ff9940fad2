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
 * Returns the tier of a mark in V8's log. Full-codegen of Node 8 has no mark: it is a baseline compiler, like Sparkplug. The rest
 * of the mark (`+'`: concurrent, `*%`: on-stack replacement) does not change the tier.
 */
export function tierOfMark(mark: string): Tier | undefined {
  if (mark === '') return 'sparkplug';
  switch (mark[0]) {
    case '~':
      return 'ignition';
    case '^':
      return 'sparkplug';
    case '+':
    // Turboprop, the middle tier of Node 14 to 18, if it was enabled.
    case '-':
      return 'maglev';
    case '*':
      return 'turbofan';
    default:
      return undefined;
  }
}

/** Returns true for code of an optimising compiler, made from feedback that may turn out wrong. */
export function isOptimised(tier: Tier): boolean {
  return tier === 'maglev' || tier === 'turbofan';
}
