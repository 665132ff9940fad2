// The endpoints of HttpArena in Bun.serve. Runs on Bun alone.
const plain = { headers: { 'Content-Type': 'text/plain' } };

function sumOf(request, body) {
  const { searchParams } = new URL(request.url);
  return String(Number(searchParams.get('a')) + Number(searchParams.get('b')) + body);
}

Bun.serve({
  port: Number(process.env.PORT),
  hostname: process.env.HOST,
  routes: {
    '/baseline11': {
      GET: (request) => new Response(sumOf(request, 0), plain),
      POST: async (request) => new Response(sumOf(request, Number(await request.text())), plain),
    },
    '/pipeline': () => new Response('ok', plain),
    '/delay/:ms': async (request) => {
      const ms = Number(request.params.ms);
      await Bun.sleep(ms);
      return new Response(String(ms), plain);
    },
  },
});
