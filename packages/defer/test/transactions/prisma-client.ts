// The client that `prisma generate` writes for a schema without models. The command downloads an engine for migrations first, so
// its output is repeated here.
import * as runtime from '@prisma/client/runtime/client';
import { PrismaPg } from '@prisma/adapter-pg';

/** The part of a Prisma client that the tests use. */
export interface PrismaClient {
  $transaction(work: (transaction: PrismaTransaction) => Promise<unknown>): Promise<unknown>;
  $disconnect(): Promise<void>;
}

export interface PrismaTransaction {
  $executeRawUnsafe(text: string): Promise<unknown>;
}

const compiler = '@prisma/client/runtime/query_compiler_fast_bg.postgresql';

const Client = runtime.getPrismaClient({
  previewFeatures: [],
  clientVersion: '7.10.0',
  engineVersion: '0edf323efd1d98336f3f0a68684b56f689b900d3',
  activeProvider: 'postgresql',
  inlineSchema: 'datasource db {\n  provider = "postgresql"\n}\n',
  runtimeDataModel: { models: {}, enums: {}, types: {} },
  parameterizationSchema: { strings: [], graph: 'AAAA' },
  compilerWasm: {
    getRuntime: () => import(`${compiler}.mjs`),
    async getQueryCompilerWasmModule() {
      const { wasm } = (await import(`${compiler}.wasm-base64.mjs`)) as { wasm: string };
      return new WebAssembly.Module(Buffer.from(wasm, 'base64'));
    },
    importName: './query_compiler_fast_bg.js',
  },
});

export function prismaOn(connectionString: string): PrismaClient {
  return new Client({
    adapter: new PrismaPg({ connectionString, max: 4 }),
  }) as unknown as PrismaClient;
}
