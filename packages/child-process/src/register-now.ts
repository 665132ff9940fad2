// `@redline/child-process/register` for bundlers and for Node versions without `require` of modules: the engine is loaded
// immediately.
import * as engine from './child-process.ts';
import { native } from './native/engine.ts';
import { putInPlace } from './register-later.ts';

if (native) putInPlace(engine);
