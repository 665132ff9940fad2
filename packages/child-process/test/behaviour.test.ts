import { compareBehaviours } from './behaviour/compare.ts';

compareBehaviours('usual');
