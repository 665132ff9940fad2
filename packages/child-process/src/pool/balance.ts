/** Rule that selects the worker of the next child. */
export type Balance = 'random' | 'round-robin' | 'least-busy';

export const balances: readonly Balance[] = ['random', 'round-robin', 'least-busy'];

export type Pick = <Worker extends { readonly busy: number }>(
  workers: readonly Worker[],
) => Worker | undefined;

export function pickBy(balance: Balance): Pick {
  let turn = -1;
  switch (balance) {
    case 'random':
      return (workers) => workers[Math.floor(Math.random() * workers.length)];
    case 'round-robin':
      return (workers) => workers[(turn = (turn + 1) % Math.max(1, workers.length))];
    case 'least-busy':
      return (workers) => {
        // Equally busy workers take turns: otherwise the first one would get all the work of a quiet server.
        turn = (turn + 1) % Math.max(1, workers.length);
        let least = workers[turn];
        for (const worker of workers) if (worker.busy < least!.busy) least = worker;
        return least;
      };
  }
}
