export const dynamic = 'force-dynamic';

export function GET() {
  return Response.json([{ id: 1, name: 'Kettle' }]);
}

export async function POST(request) {
  return Response.json({ length: (await request.text()).length }, { status: 201 });
}
