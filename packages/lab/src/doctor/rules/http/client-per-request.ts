import type { Edit } from '../../edits.ts';
import {
  at,
  argumentsOf,
  bare,
  methodOf,
  nameOf,
  type Node,
  startWithDecorators,
  statementOf,
  topStatementOf,
  within,
} from '../../syntax/node.ts';
import type { SourceFile } from '../../syntax/source-file.ts';
import { memoisationOf } from '../memoisation.ts';
import type { Rule } from '../rule.ts';

/** Constructors that open connections, by origin, with a description. */
const clients: readonly [origin: RegExp, what: string][] = [
  [/^(@prisma\/client|\.prisma\/client)\.PrismaClient$/, 'a PrismaClient'],
  [
    /^(pg|pg\.Pool|pg\.Client|mysql2?(\/promise)?\.create(Pool|Connection)|mariadb\.createPool)$/,
    'a database connection',
  ],
  [
    /^(ioredis(\.Redis|\.Cluster)?|redis\.create(Client|Cluster)|iovalkey(\.Redis)?)$/,
    'a Redis client',
  ],
  [/^(mongodb\.MongoClient|mongoose\.(connect|createConnection))$/, 'a MongoDB client'],
  [/^nodemailer\.createTransport$/, 'a mail transport'],
  [/^(https?\.Agent|undici\.(Agent|Pool|Client)|axios\.create|got\.extend)$/, 'an HTTP client'],
  [/^@aws-sdk\/client-[\w-]+\.\w+Client$/, 'an AWS client'],
  [/^(bullmq\.Queue|bull|kafkajs\.Kafka|amqplib\.connect)$/, 'a queue client'],
  [/^(typeorm\.DataSource|knex|knex\.knex|sequelize\.Sequelize)$/, 'a database pool'],
];

/** Compiled objects, whose compilation costs far more than their use. */
const compilers: readonly [origin: RegExp, what: string][] = [
  [/^ajv(\/dist\/\w+)?$/, 'an Ajv instance'],
  [/^ajv(\/dist\/\w+)?\(\)\.compile(Async)?$/, 'a compiled schema'],
  [
    /^(handlebars|ejs|pug|nunjucks|mustache|lodash\.template|lodash|underscore|dot)\.(compile|compileFile|template)$/,
    'a compiled template',
  ],
];

export const clientPerRequest: Rule = {
  id: 'client-per-request',
  title: 'a client or a compiler made for each request',
  *look(app) {
    for (const file of app.sources) {
      for (const call of file.calls()) {
        const origin = app.modules.originOf({ file, node: at(call, 'callee')! });
        if (origin === undefined) continue;
        const opened = clients.find(([pattern]) => pattern.test(origin))?.[1];
        const what = opened ?? compilers.find(([pattern]) => pattern.test(origin))?.[1];
        if (what === undefined || (origin === 'pg' && call.type !== 'NewExpression')) continue;
        const reach = app.requests.reachOf(call);
        if (reach === undefined || memoisationOf(file, call) !== undefined) continue;
        // An instance created per request is a finding itself, which includes whatever it compiles.
        const owner = origin.includes('().compile') ? methodOf(call)?.object : undefined;
        const made = owner && app.modules.valueOf({ file, node: owner });
        if (made !== undefined && app.requests.reachOf(made.node) !== undefined) continue;
        const edits = hoisted(file, call);
        yield {
          file,
          start: call.start,
          end: call.end,
          sure: reach,
          why:
            opened === undefined
              ? `${what} is made again for each request, which costs more than using it.`
              : `${what} is made for each request: a handshake each time, and connections that add up.`,
          how: 'Make it once, where the app starts, and use it in every request.',
          ...(edits === undefined ? {} : { edits }),
          seen: { calls: [nameOf(at(call, 'callee')) ?? methodOf(call)?.name ?? ''] },
        };
      }
    }
  },
};

/** Moves `const client = new Client();` in front of the function; undefined if it depends on the request, or is closed. */
function hoisted(file: SourceFile, call: Node): Edit[] | undefined {
  const declarator = bare(call.parent);
  if (declarator?.type !== 'VariableDeclarator' || declarator.parent?.['kind'] !== 'const')
    return undefined;
  const statement = statementOf(call);
  const name = nameOf(at(declarator, 'id'));
  if (name === undefined || statement !== declarator.parent || file.scopes.ofFile.has(name))
    return undefined;
  if ((declarator.parent['declarations'] as Node[]).length > 1) return undefined;
  for (const given of argumentsOf(call)) {
    for (const each of within(given)) {
      if (/^(AwaitExpression|YieldExpression|ThisExpression)$/.test(each.type)) return undefined;
      const binding =
        each.type === 'Identifier' ? file.scopes.find(nameOf(each)!, each) : undefined;
      if (binding !== undefined && !file.scopes.isOfFile(binding)) return undefined;
    }
  }
  // A client that is closed at the end of the request cannot be reused.
  for (const each of file.calls()) {
    const method = methodOf(each);
    const closes = /^(\$disconnect|disconnect|end|close|quit|release|destroy|unref)$/.test(
      method?.name ?? '',
    );
    if (closes && nameOf(method!.object) === name) return undefined;
  }
  const top = topStatementOf(call);
  const start = startWithDecorators(top);
  const line = file.textOf(statement);
  const afterLine = /^[^\S\n]*\n/.exec(file.text.slice(statement.end))?.[0].length ?? 0;
  const indent = /[^\S\n]*$/.exec(file.text.slice(0, statement.start))![0].length;
  return [
    { file, start, end: start, text: `${line}\n\n` },
    { file, start: statement.start - indent, end: statement.end + afterLine, text: '' },
  ];
}
