// `@redline/child-process/register` for bundlers and for a Node that cannot `require` modules: the engine is loaded at once.
import * as engine from './child-process.ts';
import { native } from './native/engine.ts';
import { putInPlace } from './register-later.ts';

if (native) putInPlace(engine);
