import type { ResolvedPoolOptions } from './options.ts';
import { openSendLink } from './send-link.ts';
import { SocketLink } from './socket-link.ts';
import type { LinkListener, WorkerLink } from './worker-link.ts';

export function openLink(options: ResolvedPoolOptions, listener: LinkListener): WorkerLink {
  return options.transport === 'send'
    ? openSendLink(options, listener)
    : new SocketLink(options, listener);
}
