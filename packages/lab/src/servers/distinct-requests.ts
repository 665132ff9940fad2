import type { RequestConfig } from '../config/types.ts';

/** Max number of requests checked: each costs several round trips to every server before anything is measured. */
const maxChecked = 200;

/** Selects the requests of a list to check: each once, and only the first ones of very many. */
export function distinctRequests(
  requests: readonly Required<RequestConfig>[],
): Required<RequestConfig>[] {
  const distinct = new Map(
    requests.map((each) => [`${each.method} ${each.path} ${each.body}`, each] as const),
  );
  return [...distinct.values()].slice(0, maxChecked);
}
