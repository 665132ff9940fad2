import { quoteTable } from '../transactions/table-name.ts';

/** Returns the statements that create the inbox's table, for a migration. */
export function inboxTable(table = 'defer_inbox'): string {
  const name = table.split('.').at(-1)!;
  return `create table if not exists ${quoteTable(table)} (
  job text primary key,
  done_at timestamptz not null default now()
);
create index if not exists ${quoteTable(`${name}_done_at`)} on ${quoteTable(table)} (done_at)`;
}

/** Returns the statement that creates the outbox's table, for a migration. */
export function outboxTable(table = 'defer_outbox'): string {
  return `create table if not exists ${quoteTable(table)} (
  position bigint generated always as identity primary key,
  id text not null unique,
  sink text not null,
  job text not null,
  key text,
  data text not null,
  deferred_at_ms bigint not null,
  context text,
  options text,
  claimed_until timestamptz,
  sent_at timestamptz,
  sent_to text
)`;
}
