import type { ModuleMetadata } from '@nestjs/common';

/** What a variant adds to the app all have in common. */
export type Variant = Pick<ModuleMetadata, 'controllers' | 'imports' | 'providers'>;
