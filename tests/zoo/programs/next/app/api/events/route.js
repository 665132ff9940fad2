export const dynamic = 'force-dynamic';

export function GET() {
  const chunks = [1, 2, 3].map((id) => new TextEncoder().encode(`data: ${id}\n\n`));
  return new Response(ReadableStream.from(chunks), {
    headers: { 'content-type': 'text/event-stream' },
  });
}
