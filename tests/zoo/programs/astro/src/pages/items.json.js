export const GET = () => Response.json([{ id: 1, name: 'Kettle' }]);
export const POST = async ({ request }) =>
  Response.json({ got: await request.json() }, { status: 201 });
