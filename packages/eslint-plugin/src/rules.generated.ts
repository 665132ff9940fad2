// Written by npm run rules: one line for each folder in src/rules.
/** @ts-ignore: an optional peer; without it, these types are any. */
import type { Rule } from 'eslint';
import { hoistRegexpLiteral } from './rules/hoist-regexp-literal/rule.ts';
import { noArgumentsSlice } from './rules/no-arguments-slice/rule.ts';
import { noArrayForEach } from './rules/no-array-for-each/rule.ts';
import { noBufferConcatInLoop } from './rules/no-buffer-concat-in-loop/rule.ts';
import { noConcatInLoop } from './rules/no-concat-in-loop/rule.ts';
import { noDelete } from './rules/no-delete/rule.ts';
import { noFilterFirst } from './rules/no-filter-first/rule.ts';
import { noFilterLength } from './rules/no-filter-length/rule.ts';
import { noForInArray } from './rules/no-for-in-array/rule.ts';
import { noJoinForConcat } from './rules/no-join-for-concat/rule.ts';
import { noMapDoubleLookup } from './rules/no-map-double-lookup/rule.ts';
import { noMapFilterChain } from './rules/no-map-filter-chain/rule.ts';
import { noNewRegexpInFunction } from './rules/no-new-regexp-in-function/rule.ts';
import { noObjectAssignToLiteral } from './rules/no-object-assign-to-literal/rule.ts';
import { noObjectEntriesLoop } from './rules/no-object-entries-loop/rule.ts';
import { noReduceCopy } from './rules/no-reduce-copy/rule.ts';
import { noRegexpForPrefix } from './rules/no-regexp-for-prefix/rule.ts';
import { noShiftInLoop } from './rules/no-shift-in-loop/rule.ts';
import { noSortForExtremum } from './rules/no-sort-for-extremum/rule.ts';
import { noSplitForFirst } from './rules/no-split-for-first/rule.ts';
import { noSplitForPair } from './rules/no-split-for-pair/rule.ts';
import { noSuperLinearRegexp } from './rules/no-super-linear-regexp/rule.ts';
import { noToFixedForNumbers } from './rules/no-to-fixed-for-numbers/rule.ts';
import { preferDateNow } from './rules/prefer-date-now/rule.ts';
import { preferGeneratedSerializer } from './rules/prefer-generated-serializer/rule.ts';
import { preferMapForChurnedKeys } from './rules/prefer-map-for-churned-keys/rule.ts';
import { preferSetHas } from './rules/prefer-set-has/rule.ts';
import { preferTestOverMatch } from './rules/prefer-test-over-match/rule.ts';
import { preferUnaryPlus } from './rules/prefer-unary-plus/rule.ts';

/** All rules by name. */
export const rules: Record<string, Rule.RuleModule> = {
  'hoist-regexp-literal': hoistRegexpLiteral,
  'no-arguments-slice': noArgumentsSlice,
  'no-array-for-each': noArrayForEach,
  'no-buffer-concat-in-loop': noBufferConcatInLoop,
  'no-concat-in-loop': noConcatInLoop,
  'no-delete': noDelete,
  'no-filter-first': noFilterFirst,
  'no-filter-length': noFilterLength,
  'no-for-in-array': noForInArray,
  'no-join-for-concat': noJoinForConcat,
  'no-map-double-lookup': noMapDoubleLookup,
  'no-map-filter-chain': noMapFilterChain,
  'no-new-regexp-in-function': noNewRegexpInFunction,
  'no-object-assign-to-literal': noObjectAssignToLiteral,
  'no-object-entries-loop': noObjectEntriesLoop,
  'no-reduce-copy': noReduceCopy,
  'no-regexp-for-prefix': noRegexpForPrefix,
  'no-shift-in-loop': noShiftInLoop,
  'no-sort-for-extremum': noSortForExtremum,
  'no-split-for-first': noSplitForFirst,
  'no-split-for-pair': noSplitForPair,
  'no-super-linear-regexp': noSuperLinearRegexp,
  'no-to-fixed-for-numbers': noToFixedForNumbers,
  'prefer-date-now': preferDateNow,
  'prefer-generated-serializer': preferGeneratedSerializer,
  'prefer-map-for-churned-keys': preferMapForChurnedKeys,
  'prefer-set-has': preferSetHas,
  'prefer-test-over-match': preferTestOverMatch,
  'prefer-unary-plus': preferUnaryPlus,
};
