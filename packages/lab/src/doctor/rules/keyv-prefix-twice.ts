import { argumentsOf, at, isCall, isWrittenOut, bare, propertyOf } from '../syntax/node.ts';
import type { Rule } from './rule.ts';

const adapters = /^(@keyv\/(redis|valkey)|@keyv\/redis\.KeyvRedis|@keyv\/valkey\.KeyvValkey)$/;

export const keyvPrefixTwice: Rule = {
  id: 'keyv-prefix-twice',
  title: 'keys that begin with their namespace twice',
  *look({ sources, modules, majorOf }) {
    if ((majorOf('keyv') ?? 0) !== 5) return;
    for (const file of sources) {
      for (const call of file.all('NewExpression')) {
        const origin = modules.originOf({ file, node: at(call, 'callee')! });
        if (origin !== 'keyv' && origin !== 'keyv.Keyv') continue;
        const [options] = argumentsOf(call).map((each) => bare(each));
        if (!isWrittenOut(options) || propertyOf(options, 'useKeyPrefix') !== undefined) continue;
        const store = propertyOf(options, 'store');
        const adapter =
          store && isCall(store)
            ? modules.originOf({ file, node: at(store, 'callee')! })
            : undefined;
        if (adapter === undefined || !adapters.test(adapter)) continue;
        const start = options!.start + 1;
        yield {
          file,
          start: call.start,
          end: call.end,
          sure: 'likely',
          why: 'Keyv and its Redis adapter both write the namespace into each key, so that every key is longer than it has to be.',
          how: 'Set useKeyPrefix to false. What is cached under the longer keys is computed once more.',
          edits: [{ file, start, end: start, text: ' useKeyPrefix: false,' }],
        };
      }
    }
  },
};
