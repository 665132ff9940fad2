import type { Delivery } from '../sink.ts';

/** What makes two deliveries the same job: the caller's key, or the id that every attempt shares. */
export function dedupeKey({ key, id }: Delivery): string {
  return key ?? id;
}
