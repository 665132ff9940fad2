// A part of deferred-ways.slow.test.ts: every way into a handler, on one server of each kind.
import { testWays } from './deferred-ways/trials.ts';

testWays({ platforms: ['Express 4 on node', 'Fastify on engine'], levels: ['process'] });
