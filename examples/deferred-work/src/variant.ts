import type { ModuleMetadata } from '@nestjs/common';

/** The parts that a variant adds to the common app. */
export type Variant = Pick<ModuleMetadata, 'controllers' | 'imports' | 'providers'>;
