import { quoteTable } from '../transactions/table-name.ts';

/** Returns the statements that create the outbox's table, for a migration. */
export function outboxTable(table = 'defer_outbox'): string {
  return `create table if not exists ${quoteTable(table)} (
  position integer primary key autoincrement,
  id text not null unique,
  sink text not null,
  job text not null,
  key text,
  data text not null,
  deferred_at_ms integer not null,
  context text,
  options text,
  claimed_until_ms integer,
  sent_at_ms integer,
  sent_to text
);
create index if not exists ${indexOf(table, 'waiting')} (sent_at_ms, position)`;
}

/** Returns the statements that create the inbox's table, for a migration. */
export function inboxTable(table = 'defer_inbox'): string {
  return `create table if not exists ${quoteTable(table)} (
  job text primary key,
  done_at_ms integer not null
);
create index if not exists ${indexOf(table, 'done_at')} (done_at_ms)`;
}

/* SQLite expects the schema before the name of the index, not before that of its table. */
function indexOf(table: string, what: string): string {
  const name = table.split('.').at(-1)!;
  return `${quoteTable(`${table}_${what}`)} on ${quoteTable(name)}`;
}
