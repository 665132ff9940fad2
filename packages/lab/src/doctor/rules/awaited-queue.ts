import { methodOf, type Node } from '../syntax/node.ts';
import type { Rule } from './rule.ts';

/** What puts a job or a message somewhere, by the origin of its owner and its own name. */
const senders: readonly [owner: RegExp, method: RegExp, what: string][] = [
  [/^bullmq\.(Queue|FlowProducer)\(\)$/, /^(add|addBulk)$/, 'Redis has stored the job'],
  [/^bull(\.Queue|\.default)?\(\)$/, /^(add|addBulk)$/, 'Redis has stored the job'],
  [/^bee-queue\(\)\.createJob\(\)$/, /^save$/, 'Redis has stored the job'],
  [/^kafkajs\.Kafka\(\)\.producer\(\)$/, /^(send|sendBatch)$/, 'Kafka has acknowledged it'],
  [/^nodemailer\.createTransport\(\)$/, /^sendMail$/, 'the mail server has taken it'],
];

export const awaitedQueue: Rule = {
  id: 'awaited-queue',
  title: 'a response that waits for a queue',
  *look({ sources, modules, requests }) {
    for (const file of sources) {
      for (const call of file.all('CallExpression')) {
        const method = methodOf(call);
        const isAwaited = call.parent?.type === 'AwaitExpression';
        if (method === undefined || !isAwaited) continue;
        const origin = modules.originOf({ file, node: method.object });
        if (origin === undefined) continue;
        const [, , what] =
          senders.find(([owner, name]) => owner.test(origin) && name.test(method.name)) ?? [];
        const reach = what === undefined ? undefined : requests.reachOf(call);
        if (reach === undefined) continue;
        yield {
          file,
          start: call.parent!.start,
          end: call.parent!.end,
          sure: isUsed(call.parent!.parent) ? 'hint' : reach,
          why: `The response waits until ${what}: a round trip of each request, and an outage for it when that is down.`,
          how: 'Answer first: defer(…) of @redline/defer journals the call and makes it after the response, in batches.',
          seen: { calls: [method.name] },
        };
      }
    }
  },
};

/** A job whose id goes into the response has to be there first. */
function isUsed(parent: Node | undefined): boolean {
  return parent?.type !== 'ExpressionStatement';
}
