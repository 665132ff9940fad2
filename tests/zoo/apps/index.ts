import { apis } from './apis.ts';
import { files } from './files.ts';
import { frameworks } from './frameworks.ts';
import { proxies } from './proxies.ts';
import { realtime } from './realtime.ts';
import { routers } from './routers.ts';
import { sites } from './sites.ts';
import { tools } from './tools.ts';
import type { ZooApp } from '../zoo-app.ts';

/** In the order of the page. */
export const apps: readonly ZooApp[] = [
  ...tools,
  ...routers,
  ...frameworks,
  ...sites,
  ...apis,
  ...realtime,
  ...proxies,
  ...files,
];
