/** Ways out of optimised code that V8 takes on purpose: nobody can or need do something about them. */
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
    'This operation had not run yet when the function was optimised, so V8 knew no types for it: a branch was taken for the first time. An expression that runs every time keeps its types: (val >= 10 ? "" : "0") + val in place of val >= 10 ? val : "0" + val, which also returns one type instead of two.',
  ],
  [
    /insufficient type feedback/i,
    'This place had not run yet when the function was optimised, so V8 knew nothing of it: a branch was taken for the first time. Once is how V8 learns. If it comes back, the rare case belongs into a function of its own.',
  ],
  [
    /wrong (map|call target|instance type)|map mismatch|(wrong|unexpected) (receiver|enum)/i,
    'An object had another shape, or another function was called, than all before. Create such objects with the same properties in the same order, in one place, and do not delete or add some later.',
  ],
  [
    /not a (smi|small integer)|^smi$|overflow|lost precision|minus zero|nan|hole/i,
    'A number left what the code was made for: a small integer became a fraction, −0, NaN, or too large, or an array has a hole. Keep one kind of number per variable and array; fill arrays from the start.',
  ],
  [
    /not a (heap ?number|number|string|symbol|boolean|bigint|number or oddball|js ?receiver|detached)|not an array index|not internalized/i,
    'A value had another type than all before. Give the variable, argument or return value one type.',
  ],
  [
    /out of bounds|not within/i,
    'An index lay outside the array or string: V8 prepares for that only once it was seen. Compare with length before reading.',
  ],
  [/division by zero/i, 'The divisor was 0 for the first time. Test for it before dividing.'],
  [
    /unknown|dependency|constant|prototype|weak/i,
    'Something the code relied on changed elsewhere: a variable that was constant so far, a prototype, a class that was extended. Finish set-up before the load comes.',
  ],
];

/** What a reason means; undefined for one we know nothing of. */
export function explain(reason: string): string | undefined {
  return explanations.find(([pattern]) => pattern.test(reason))?.[1];
}
