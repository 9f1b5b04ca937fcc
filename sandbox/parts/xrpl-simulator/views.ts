import type { Network } from './network';
import type { Account, Ledger } from './state';

/** What the server can see of the network now, and an order may have made less of. */
export type View = Readonly<{
  closed: Ledger;
  validated: Ledger;
  /** Whether it follows the network. */
  isFollowing: boolean;
  oldest: number;
  at: (index: number) => Ledger | undefined;
  account: (address: string, at: number) => Account | undefined;
}>;

export function viewOf({ state, tip }: Network): View {
  const { view, settings, ledgers } = state;
  const first = ledgers[0]!.index;
  const newest = view.kind === 'lag' ? tip.index - view.by : view.kind === 'still' ? view.at : tip.index;
  const byIndex = (index: number): Ledger | undefined => ledgers[index - first];
  const closedAt = Math.max(first, newest);
  const oldest = Math.max(first, state.forgotten + 1);
  const at = (index: number): Ledger | undefined => (index >= oldest && index <= closedAt ? byIndex(index) : undefined);
  return {
    closed: byIndex(closedAt)!,
    validated: byIndex(Math.max(first, closedAt - settings.validateAfter))!,
    isFollowing: view.kind !== 'still',
    oldest,
    at,
    account(address, index) {
      for (let height = index; height >= first; height -= 1) {
        const account = byIndex(height)?.changed[address];
        if (account) return account;
      }
      return undefined;
    },
  };
}
