import { quoteTable } from './pool.ts';

/** The statement that makes the outbox's table, for a migration. */
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
