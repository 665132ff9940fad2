/** Exits from optimised code that V8 makes on purpose: user code cannot and need not avoid them. */
const benignReasons = [
  'prepare for on stack replacement',
  'exit from OSR',
  // Attaching a debugger or a profiler that steps.
  'debugger',
];

export function isBenign(reason: string): boolean {
  return benignReasons.some((benign) => reason.toLowerCase().includes(benign.toLowerCase()));
}

const explanations: [pattern: RegExp, text: string][] = [
  [
    /insufficient type feedback for (binary operation|compare operation|unary operation)/i,
    'This operation had not run yet when the function was optimised, so V8 had no types for it: a branch was taken for the first time. An expression that runs every time keeps its types: (val >= 10 ? "" : "0") + val in place of val >= 10 ? val : "0" + val, which also returns one type instead of two.',
  ],
  [
    /insufficient type feedback/i,
    'This place had not run yet when the function was optimised, so V8 had no data on it: a branch was taken for the first time. Once is normal. If it recurs, move the rare case into its own function.',
  ],
  [
    /wrong (map|call target|instance type)|map mismatch|(wrong|unexpected) (receiver|enum)/i,
    'An object had a different shape, or a different function was called, than ever before. Create such objects with the same properties in the same order, in one place, and do not add or delete any later.',
  ],
  [
    /not a (smi|small integer)|^smi$|overflow|lost precision|minus zero|nan|hole/i,
    'A number left the range the code was compiled for: a small integer became a fraction, −0, NaN, or too large, or an array has a hole. Keep one kind of number per variable and array; fill arrays from the start.',
  ],
  [
    /not a (heap ?number|number|string|symbol|boolean|bigint|number or oddball|js ?receiver|detached)|not an array index|not internalized/i,
    'A value had a type not seen before. Give the variable, argument or return value one type.',
  ],
  [
    /out of bounds|not within/i,
    'An index lay outside the array or string: V8 handles that only after seeing it once. Compare with length before reading.',
  ],
  [/division by zero/i, 'The divisor was 0 for the first time. Test for it before dividing.'],
  [
    /unknown|dependency|constant|prototype|weak/i,
    'Something the code relied on changed elsewhere: a variable that had been constant, a prototype, an extended class. Finish set-up before the load arrives.',
  ],
];

/** Returns the meaning of a reason; undefined for an unknown one. */
export function explain(reason: string): string | undefined {
  return explanations.find(([pattern]) => pattern.test(reason))?.[1];
}
