import { serve } from 'srvx';

serve({
  port: Number(process.env.PORT),
  hostname: '127.0.0.1',
  silent: true,
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === '/echo') return new Response(await request.text(), { status: 201 });
    if (pathname === '/json') return Response.json({ agent: request.headers.get('user-agent') });
    if (pathname === '/stream')
      return new Response(
        ReadableStream.from(['a', 'b', 'c'].map((each) => new TextEncoder().encode(each))),
      );
    if (pathname === '/old') return new Response(null, { status: 302, headers: { location: '/' } });
    if (pathname === '/missing') return new Response('missing', { status: 404 });
    return new Response('<h1>Hello srvx</h1>', { headers: { 'content-type': 'text/html' } });
  },
});
