import type { CallGroup, CallsSummary, Explained } from '../result.ts';
import { timeOf } from '../summarise-calls.ts';
import { unknownFunction } from './called-functions.ts';
import { type Database, openDatabase } from './database.ts';
import { explainMysql } from './mysql-plan.ts';
import { explainPostgres } from './postgres-plan.ts';

/** Number of statements to explain, those with the most time. */
const maxExplained = 5;

/** Connects once, so that a wrong URL is reported before anything is measured. */
export async function checkDatabase(url: string | undefined, folder: string): Promise<void> {
  if (url !== undefined) await (await openDatabase(url, folder)).end();
}

/**
 * Adds to the statements with the most time what their database plans for them.
 * @returns warnings: the measurement is kept whatever the database does
 */
export async function explainCalls(
  calls: CallsSummary | undefined,
  url: string | undefined,
  folder: string,
): Promise<string[]> {
  if (calls === undefined || url === undefined) return [];
  const database = await openDatabase(url, folder).catch((error: Error) => error);
  if (database instanceof Error) return [database.message];
  try {
    const groups = calls.callers
      .flatMap((caller) => caller.groups)
      .filter((group) => group.system === database.system && isExplainable(group, database.system))
      .toSorted((a, b) => timeOf(b) - timeOf(a));
    for (const group of groups.slice(0, maxExplained)) {
      group.explained = await explain(database, group);
    }
    return [];
  } finally {
    await database.end().catch(() => {});
  }
}

/** Kinds that EXPLAIN takes in a read-only transaction. */
const explainable: Record<Database['system'], RegExp> = {
  PostgreSQL: /^(select|with|update|delete)\b/i,
  MySQL: /^(select|with)\b/i,
};

/** True for one whole statement of such a kind. */
function isExplainable({ text }: CallGroup, system: Database['system']): boolean {
  return explainable[system].test(text) && !/;|[^(]…/.test(text);
}

async function explain(database: Database, { text }: CallGroup): Promise<Explained> {
  const called = unknownFunction(text);
  if (called !== undefined) {
    return {
      text: `not explained: it calls ${called}, which the planner may run`,
      isScan: false,
    };
  }
  try {
    return database.system === 'PostgreSQL'
      ? await explainPostgres(database, text)
      : await explainMysql(database, text);
  } catch (error) {
    return { text: `not explained: ${(error as Error).message}`, isScan: false };
  }
}
