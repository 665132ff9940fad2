import type { CallGroup, CallsSummary, Explained } from '../result.ts';
import { timeOf } from '../summarise-calls.ts';
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

// cspell:disable
/** Words of SQL that a parenthesis may follow without a call. */
const keywords = new Set(
  `all and any array as between by case distinct div else end except exists filter first from group having if in index intersect
  interval is join key lateral like ilike limit mod not offset on only or over partition recursive regexp returning rlike row select
  set sets then union using values when where with within xor materialized straight_join separator escape to`.split(
    /\s+/,
  ),
);

/** Built-in functions that read nothing, lock nothing and take no time. */
const builtIns = new Set(
  `abs adddate age array_agg array_length avg bit_and bit_or bool_and bool_or btrim cardinality cast ceil ceiling char_length
  character_length coalesce concat concat_ws convert count cume_dist curdate current_date current_time current_timestamp curtime date
  date_add date_format date_part date_sub date_trunc datediff day dayofmonth dayofweek dense_rank every exp extract first_value floor
  format from_unixtime greatest group_concat hour ifnull instr isnull json_agg json_array json_array_length json_arrayagg
  json_build_array json_build_object json_contains json_extract json_length json_object json_object_agg json_objectagg json_unquote
  json_value jsonb_agg jsonb_array_length jsonb_build_array jsonb_build_object jsonb_object_agg lag last_value lcase lead least left
  length ln locate log lower ltrim make_date make_interval max md5 min minute month nth_value ntile now nullif position power
  quarter rank replace right round row_number row_to_json rtrim second sign split_part sqrt stddev string_agg strpos substr
  substring sum timestamp timestampadd timestampdiff to_char to_date to_json to_jsonb to_number to_timestamp trim trunc truncate ucase
  unix_timestamp unnest upper utc_timestamp variance week weekday year`.split(/\s+/),
);

// cspell:enable
const name = String.raw`(?:"(?:[^"]|"")*"|${'`(?:[^`]|``)*`'}|[\p{L}_][\p{L}\p{N}_$]*)`;
const named = new RegExp(String.raw`(${name}(?:\s*\.\s*${name})*)(\s*\()?`, 'gu');

/**
 * Returns the first function that a statement calls beyond well-known ones of the database. A planner evaluates a function of
 * constants for its estimates, and such a function may lock, wait or write to another server.
 */
export function unknownFunction(text: string): string | undefined {
  for (const [, called, parenthesis] of text.matchAll(named)) {
    if (parenthesis === undefined) continue;
    const word = called!.toLowerCase();
    if (!keywords.has(word) && !builtIns.has(word)) return called;
  }
  return undefined;
}
