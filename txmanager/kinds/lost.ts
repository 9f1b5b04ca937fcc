import type { EntityManager } from 'typeorm';
import { ensureMined, reverse } from '../../db/ledger/ledger';
import { accountsOf } from '../../db/txmanager/intents';
import { ownAddresses } from '../../db/txmanager/sign-facts';
import { assetOf } from '../../domain/chains/assets';
import { lostJournal, type ChainAccount } from '../../domain/ledger/lost';
import { fromUnits } from '../../domain/money';
import { summaryAs, type Booking, type OutgoingKind } from './kind';

/** What a recovery has lost: signed, perhaps sent, and no row has it sent. What left is a loss until two people charge
 *  the merchant; what went to an address of ours is there. */
export const lost: OutgoingKind = {
  kind: 'lost',
  summary: summaryAs('Lost by a recovery'),
  owner: null,
  obligation: null,
  book: bookLost,
  unbook: (tx, mined) => reverse(tx, `lost/${mined.intentId}`),
  openRows: [],
  shortfallEnds: null,
};

async function bookLost(tx: EntityManager, { intent, mined, paid }: Booking): Promise<void> {
  const places = await ownAddresses(tx, intent.network, [
    intent.from_address,
    ...mined.outputs.map((output) => output.address),
  ]);
  const accountOf = (address: string): ChainAccount | null => {
    const role = places.find((place) => place.address === address)?.role;
    return role ? `A:${role}` : null;
  };
  const feeFrom = accountOf(intent.from_address) ?? 'A:deposit';
  // The gas wallet moves the tokens of many deposit addresses.
  const from = (await accountsOf(tx, mined.id)).length ? 'A:deposit' : feeFrom;
  const { decimals } = assetOf(intent.currency);
  const moves = mined.outputs.map(({ address, units }) => ({
    to: accountOf(address) ?? ('E:loss' as const),
    amount: fromUnits(BigInt(units), decimals),
  }));
  await ensureMined(tx, { ...paid, from: feeFrom }, (chainFee) =>
    lostJournal({
      intentId: intent.id,
      currency: intent.currency,
      native: paid.native,
      from,
      feeFrom,
      moves,
      chainFee,
    }),
  );
}
