const pageSize = 100;
const mostPages = 20;

/** Writes a comment below a pull request, or puts a new text into the one that has the marker. */
export async function keepComment({ api, repository, token, number, marker, body }) {
  const ask = async (path, init = {}) => {
    const response = await fetch(`${api}/repos/${repository}${path}`, {
      ...init,
      headers: {
        accept: 'application/vnd.github+json',
        authorization: `Bearer ${token}`,
        'user-agent': 'redline',
      },
    });
    if (!response.ok) throw new Error(`${init.method ?? 'GET'} ${path} answers ${response.status}`);
    return response.json();
  };
  const text = JSON.stringify({ body: `${marker}\n${body}` });
  const before = await find(ask, `/issues/${number}/comments`, marker);
  return before === undefined
    ? ask(`/issues/${number}/comments`, { method: 'POST', body: text })
    : ask(`/issues/comments/${before.id}`, { method: 'PATCH', body: text });
}

async function find(ask, path, marker) {
  for (let page = 1; page <= mostPages; page++) {
    const comments = await ask(`${path}?per_page=${pageSize}&page=${page}`);
    const found = comments.find(({ body }) => body?.startsWith(marker));
    if (found !== undefined || comments.length < pageSize) return found;
  }
  return undefined;
}
