/** A wallet and the change that waits for it, as their merchant sees them. Contract: 2.6, G6. */

type Shown = Readonly<{
  id: string;
  currency: string;
  settlement_address: string;
  destination_tag: string | null;
  custody: string;
  is_active: boolean;
  created_at: Date;
}>;
type Change = Readonly<{
  address: string;
  status: string;
  requested_by_name: string;
  active_at: Date;
  created_at: Date;
}>;

export const viewChange = (change: Change) => ({
  settlementAddress: change.address,
  status: change.status,
  activeAt: change.active_at.toISOString(),
  requestedBy: change.requested_by_name,
  createdAt: change.created_at.toISOString(),
});

export const viewWallet = (wallet: Shown, pending: Change | null) => ({
  id: wallet.id,
  currency: wallet.currency,
  settlementAddress: wallet.settlement_address,
  destinationTag: wallet.destination_tag,
  custody: wallet.custody,
  isActive: wallet.is_active,
  createdAt: wallet.created_at.toISOString(),
  pendingChange: pending && viewChange(pending),
});
export type WalletView = ReturnType<typeof viewWallet>;
