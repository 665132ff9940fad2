import { defineJob } from '@redline/defer';

/** What the article writes for every request: who asked for what, and when. */
export interface AccessRecord {
  method: string;
  path: string;
  userAgent: string;
  at: number;
}

export const writeAccess = defineJob<AccessRecord>('write-access');

export function accessRecord(): AccessRecord {
  return { method: 'GET', path: '/orders', userAgent: 'a browser', at: Date.now() };
}

/** What every variant answers. */
export const orders = { orders: [{ id: 7, total: 19.9 }], page: 1 };
