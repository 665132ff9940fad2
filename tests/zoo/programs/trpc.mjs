import { initTRPC } from '@trpc/server';
import { createHTTPServer } from '@trpc/server/adapters/standalone';
import { z } from 'zod';

const t = initTRPC.create();
const router = t.router({
  hello: t.procedure
    .input(z.object({ name: z.string() }))
    .query(({ input }) => `hello ${input.name}`),
  list: t.procedure.query(() => [1, 2, 3]),
  add: t.procedure.input(z.object({ a: z.number() })).mutation(({ input }) => input.a + 1),
  count: t.procedure.subscription(async function* count() {
    for (let each = 0; each < 3; each++) yield each;
  }),
});
createHTTPServer({ router }).listen(Number(process.env.PORT));
