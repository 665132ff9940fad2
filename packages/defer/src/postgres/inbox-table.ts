import { quoteTable } from './pool.ts';

/** The statements that make the inbox's table, for a migration. */
export function inboxTable(table = 'defer_inbox'): string {
  const name = table.split('.').at(-1)!;
  return `create table if not exists ${quoteTable(table)} (
  job text primary key,
  done_at timestamptz not null default now()
);
create index if not exists ${quoteTable(`${name}_done_at`)} on ${quoteTable(table)} (done_at)`;
}
