import { argumentsOf, at, isWrittenOut, bare, propertyOf } from '../../syntax/node.ts';
import type { Rule } from '../rule.ts';

const adapters = /^(@keyv\/(redis|valkey)|@keyv\/redis\.KeyvRedis|@keyv\/valkey\.KeyvValkey)\(\)$/;

export const keyvPrefixTwice: Rule = {
  id: 'keyv-prefix-twice',
  title: 'keys that begin with their namespace twice',
  *look({ sources, modules, majorOf }) {
    if ((majorOf('keyv') ?? 0) !== 5) return;
    for (const file of sources) {
      for (const call of file.all('NewExpression')) {
        const origin = modules.originOf({ file, node: at(call, 'callee')! });
        if (origin !== 'keyv' && origin !== 'keyv.Keyv') continue;
        const [first, second] = argumentsOf(call).map((each) => bare(each));
        const isAlone = first?.type === 'ObjectExpression';
        const options = isAlone ? first : second;
        if (options !== undefined && !isWrittenOut(options)) continue;
        if (propertyOf(options, 'useKeyPrefix') !== undefined) continue;
        const store = isAlone ? propertyOf(options, 'store') : first;
        const adapter = store && modules.originOf({ file, node: store });
        if (store === undefined || adapter === undefined || !adapters.test(adapter)) continue;
        const start = options === undefined ? store.end : options.start + 1;
        const text = options === undefined ? ', { useKeyPrefix: false }' : ' useKeyPrefix: false,';
        yield {
          file,
          start: call.start,
          end: call.end,
          sure: 'likely',
          why: 'Keyv and its Redis adapter both write the namespace into each key, so that every key is longer than it has to be.',
          how: 'Set useKeyPrefix to false. What is cached under the longer keys is computed once more.',
          edits: [{ file, start, end: start, text }],
        };
      }
    }
  },
};
