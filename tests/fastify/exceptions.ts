/** Tests of Fastify that are not asked of the engine: file, then test, then the reason. */
export const exceptions: Record<string, Record<string, string>> = {};
