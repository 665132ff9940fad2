import type { Rule } from 'eslint';
import { hoistRegexpLiteral } from './hoist-regexp-literal.ts';
import { noArgumentsSlice } from './no-arguments-slice.ts';
import { noArrayForEach } from './no-array-for-each.ts';
import { noBufferConcatInLoop } from './no-buffer-concat-in-loop.ts';
import { noConcatInLoop } from './no-concat-in-loop.ts';
import { noDelete } from './no-delete.ts';
import { noFilterFirst } from './no-filter-first.ts';
import { noFilterLength } from './no-filter-length.ts';
import { noForInArray } from './no-for-in-array.ts';
import { noJoinForConcat } from './no-join-for-concat.ts';
import { noMapDoubleLookup } from './no-map-double-lookup.ts';
import { noMapFilterChain } from './no-map-filter-chain.ts';
import { noNewRegexpInFunction } from './no-new-regexp-in-function.ts';
import { noObjectAssignToLiteral } from './no-object-assign-to-literal.ts';
import { noObjectEntriesLoop } from './no-object-entries-loop.ts';
import { noReduceCopy } from './no-reduce-copy.ts';
import { noRegexpForPrefix } from './no-regexp-for-prefix.ts';
import { noShiftInLoop } from './no-shift-in-loop.ts';
import { noSortForExtremum } from './no-sort-for-extremum.ts';
import { noSplitForFirst } from './no-split-for-first.ts';
import { noSplitForPair } from './no-split-for-pair.ts';
import { noToFixedForNumbers } from './no-to-fixed-for-numbers.ts';
import { preferDateNow } from './prefer-date-now.ts';
import { preferGeneratedSerializer } from './prefer-generated-serializer.ts';
import { preferMapForChurnedKeys } from './prefer-map-for-churned-keys.ts';
import { preferSetHas } from './prefer-set-has.ts';
import { preferTestOverMatch } from './prefer-test-over-match.ts';
import { preferUnaryPlus } from './prefer-unary-plus.ts';

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
  'no-to-fixed-for-numbers': noToFixedForNumbers,
  'prefer-date-now': preferDateNow,
  'prefer-generated-serializer': preferGeneratedSerializer,
  'prefer-map-for-churned-keys': preferMapForChurnedKeys,
  'prefer-set-has': preferSetHas,
  'prefer-test-over-match': preferTestOverMatch,
  'prefer-unary-plus': preferUnaryPlus,
};
