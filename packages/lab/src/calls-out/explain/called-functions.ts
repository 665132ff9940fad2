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
