import { argumentsOf, listAt, methodOf, stringOf } from '../../syntax/node.ts';
import { redisClient } from './data-calls.ts';
import type { Rule } from '../rule.ts';

const client = new RegExp(`^(?:${redisClient.source})$`);

export const redisKeys: Rule = {
  id: 'redis-keys',
  title: 'KEYS, which blocks Redis for every client',
  *look({ sources, modules, requests }) {
    for (const file of sources) {
      for (const call of file.all('CallExpression')) {
        const method = methodOf(call);
        if (method === undefined) continue;
        const [first] = argumentsOf(call);
        const sent = stringOf(method.name === 'sendCommand' ? listAt(first, 'elements')[0] : first);
        const isKeys = /^keys$/i.test(method.name)
          ? first !== undefined
          : /^(call|sendCommand)$/.test(method.name) && /^keys$/i.test(sent ?? '');
        const origin = isKeys ? modules.originOf({ file, node: method.object }) : undefined;
        if (origin === undefined || !client.test(origin)) continue;
        const reach = requests.reachOf(call);
        yield {
          file,
          start: call.start,
          end: call.end,
          sure: reach ?? 'hint',
          why: 'KEYS scans all keys of the database in one go, about a second for some millions, and every other client waits.',
          how: 'Keep the names in a set, or iterate over them with SCAN (scanStream, scanIterator).',
          seen: { calls: [method.name] },
        };
      }
    }
  },
};
