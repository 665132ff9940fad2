import { defineJob } from '@redline/defer';

/** The article's record of a request: the client, the route and the time. */
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

/** The response body of every variant. */
export const orders = { orders: [{ id: 7, total: 19.9 }], page: 1 };
