export default async function Page({ searchParams }) {
  const { a } = await searchParams;
  return <p>{a}</p>;
}
