import { comparePrograms } from './behaviour/compare-programs.ts';

comparePrograms('usual');
