/** Busy for so many turns of a loop. */
export const spin: (turns: number, value: number) => number;
