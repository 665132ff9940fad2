import { at, bare, isCall, methodOf, nameOf, type Node } from '../../syntax/node.ts';
import type { SourceFile } from '../../syntax/source-file.ts';
import type { Rule } from '../rule.ts';

/** Methods that send a job or a message, by the origin of their owner and their name. */
const senders: readonly [owner: RegExp, method: RegExp, what: string][] = [
  [/^bullmq\.(Queue|FlowProducer)\(\)$/, /^(add|addBulk)$/, 'Redis has stored the job'],
  [/^bull(\.Queue|\.default)?\(\)$/, /^(add|addBulk)$/, 'Redis has stored the job'],
  [/^bee-queue\(\)\.createJob\(\)$/, /^save$/, 'Redis has stored the job'],
  [
    /^kafkajs\.(Kafka\(\)\.producer|Producer)\(\)$/,
    /^(send|sendBatch)$/,
    'Kafka has acknowledged it',
  ],
  [
    /^(nodemailer\.(createTransport|Transporter)|@nestjs-modules\/mailer\.MailerService)\(\)$/,
    /^sendMail$/,
    'the mail server has taken it',
  ],
  [/^@sendgrid\/mail$/, /^(send|sendMultiple)$/, 'the mail service has taken it'],
  [/^pg-boss\(\)$/, /^(send|insert|publish)$/, 'the database has stored the job'],
  [
    /^@aws-sdk\/client-(sqs|sns|eventbridge)\.\w+\(\)$/,
    /^(send|sendMessage|sendMessageBatch|publish|publishBatch|putEvents)$/,
    'AWS has acknowledged it',
  ],
];
/** For clients that also read, the command tells reads from writes. */
const reading = /^(Receive|Get|List|Describe|Delete)\w*Command$/;

export const awaitedQueue: Rule = {
  id: 'awaited-queue',
  title: 'a response that waits for a queue',
  *look({ sources, modules, requests }) {
    for (const file of sources) {
      for (const call of file.all('CallExpression')) {
        const method = methodOf(call);
        const waiting = method && (waitOf(call) ?? waitOfName(file, call));
        if (method === undefined || waiting === undefined) continue;
        const origin = modules.originOf({ file, node: method.object });
        if (origin === undefined) continue;
        const [, , what] =
          senders.find(([owner, name]) => owner.test(origin) && name.test(method.name)) ?? [];
        const reach = what === undefined ? undefined : requests.reachOf(call);
        if (reach === undefined || reads(call)) continue;
        yield {
          file,
          start: waiting.start,
          end: waiting.end,
          sure: isUsed(waiting.parent) ? 'hint' : reach,
          why: `The response waits until ${what}: a round trip of each request, and an outage for it when that is down.`,
          how: 'Answer first: defer(…) of @redline/defer journals the call and makes it after the response, in batches.',
          seen: { calls: [method.name] },
        };
      }
    }
  },
};

/** Returns the `await` of a call, also within a Promise.all. */
function waitOf({ parent }: Node): Node | undefined {
  if (parent?.type === 'AwaitExpression') return parent;
  const all = parent?.type === 'ArrayExpression' ? parent.parent : undefined;
  const method = methodOf(all);
  const isAll = nameOf(method?.object) === 'Promise' && /^all(Settled)?$/.test(method!.name);
  return isAll && all?.parent?.type === 'AwaitExpression' ? all.parent : undefined;
}

/** Finds `const added = queue.add(…); await added;`. */
function waitOfName(file: SourceFile, { parent, end }: Node): Node | undefined {
  const id = parent?.type === 'VariableDeclarator' ? at(parent, 'id') : undefined;
  const binding = id?.type === 'Identifier' ? file.scopes.find(nameOf(id)!, id) : undefined;
  if (binding === undefined) return undefined;
  const use = file
    .all('Identifier')
    .find(
      (each) =>
        each.start > end &&
        nameOf(each) === binding.name &&
        file.scopes.find(binding.name, each) === binding,
    );
  return use && waitOf(use);
}

function reads(call: Node): boolean {
  const [given] = call['arguments'] as Node[];
  const made = bare(given);
  if (!isCall(made)) return false;
  const callee = bare(made['callee'] as Node);
  const name = callee?.type === 'MemberExpression' ? (callee['property'] as Node) : callee;
  return reading.test(nameOf(name) ?? '');
}

/** True if the result is used: a job whose id is part of the response has to be stored first. */
function isUsed(parent: Node | undefined): boolean {
  return parent?.type !== 'ExpressionStatement';
}
