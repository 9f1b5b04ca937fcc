import type { EntityManager } from 'typeorm';
import { emitEvents } from '../../db/webhooks/events';
import { walletVersion, type WalletRow } from '../../db/wallets/wallets';
import { openChangeOf } from '../../db/wallets/settlement-changes';
import { viewWallet, type WalletView } from '../../domain/wallets/wallet-view';
import type { EventType } from '../../domain/webhooks/event-types';

/** A wallet as it is read, with the change that waits for it. */
export const presentWallet = async (tx: EntityManager, row: WalletRow): Promise<WalletView> =>
  viewWallet(row, await openChangeOf(tx, row.id));

/** The event of a change, in its transaction, and last there. Contract: G4. */
export async function emitWalletEvent(
  tx: EntityManager,
  type: Extract<EventType, `wallet.${string}`>,
  row: WalletRow,
  before?: WalletRow,
): Promise<void> {
  const now = await presentWallet(tx, row);
  const then = before && viewWallet(before, null);
  const { pendingChange: _, ...lasting } = then ?? { pendingChange: null };
  const changed = Object.entries(lasting).filter(([name, value]) => now[name as keyof WalletView] !== value);
  await emitEvents(tx, [
    {
      merchantId: row.merchant_id,
      type,
      entityId: row.id,
      stateVersion: await walletVersion(tx, row.id),
      data: JSON.stringify(now),
      previous: Object.fromEntries(changed),
    },
  ]);
}
