import type { RequestConfig } from '../config/types.ts';

/** Each costs several round trips to every server before anything is measured. */
const mostChecked = 200;

/** What is checked of a list of requests: each once, and of very many different ones the first. */
export function distinctRequests(
  requests: readonly Required<RequestConfig>[],
): Required<RequestConfig>[] {
  const distinct = new Map(
    requests.map((each) => [`${each.method} ${each.path} ${each.body}`, each] as const),
  );
  return [...distinct.values()].slice(0, mostChecked);
}
