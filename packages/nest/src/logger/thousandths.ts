/** "000" to "999": digits without formatting a number, which costs several times the lookup. */
export const thousandths: readonly string[] = Array.from({ length: 1000 }, (_, n) =>
  String(n).padStart(3, '0'),
);
