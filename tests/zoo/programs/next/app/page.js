export default function Page() {
  return <h1>Next</h1>;
}
