import { apis } from './apis.ts';
import { files } from './files.ts';
import { frameworks } from './frameworks.ts';
import { proxies } from './proxies.ts';
import { realtime } from './realtime.ts';
import { tools } from './tools.ts';
import type { ZooApp } from '../zoo-app.ts';

/** In the order of the page. */
export const apps: readonly ZooApp[] = [
  ...tools,
  ...frameworks,
  ...apis,
  ...realtime,
  ...proxies,
  ...files,
];
