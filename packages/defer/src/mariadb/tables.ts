import { quoteTable } from '../transactions/table-name.ts';

/** Returns the statement that creates the outbox's table, for a migration. */
export function outboxTable(table = 'defer_outbox'): string {
  return `create table if not exists ${quoteTable(table, '`')} (
  position bigint not null auto_increment primary key,
  id varchar(255) not null unique,
  sink varchar(255) not null,
  job text not null,
  \`key\` longtext,
  data longtext not null,
  deferred_at_ms bigint not null,
  context longtext,
  options longtext,
  claimed_until_ms bigint,
  sent_at_ms bigint,
  sent_to varchar(255),
  key waiting (sent_at_ms, position)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_bin`;
}

/** Returns the statement that creates the inbox's table, for a migration. */
export function inboxTable(table = 'defer_inbox'): string {
  return `create table if not exists ${quoteTable(table, '`')} (
  job varbinary(767) not null primary key,
  done_at timestamp not null default current_timestamp,
  key done_at (done_at)
) engine = InnoDB`;
}
