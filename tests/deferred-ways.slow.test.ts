// What a response below 400 promises, by every way into a handler, on every framework and both servers.
import { platforms } from './deferred-ways/platforms.ts';
import { testWays } from './deferred-ways/trials.ts';

testWays({ platforms: Object.keys(platforms), levels: ['process', 'disk'] });
