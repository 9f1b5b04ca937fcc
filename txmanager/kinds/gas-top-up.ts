import type { EntityManager } from 'typeorm';
import { ensureMined, reverse } from '../../db/ledger/ledger';
import { accountAt } from '../../db/treasury/treasury';
import type { IntentRow } from '../../db/txmanager/intents';
import { assetOf } from '../../domain/chains/assets';
import { gasJournal } from '../../domain/ledger/ledger';
import { fromUnits } from '../../domain/money';
import { invoicesOf } from './invoices';
import { transferText, type Booking, type OutgoingKind } from './kind';

/** J4: gas for an address of ours that tokens are to leave. */
export const gasTopUp: OutgoingKind = {
  kind: 'gas',
  summary: async (tx, intent) =>
    transferText('Gas top-up', intent) + (intent.payment_id === null ? '' : await invoicesOf(tx, intent)),
  owner: null,
  obligation: null,
  inside: (_tx, intents) =>
    Promise.resolve(
      new Map(
        intents.map(({ id, merchant_id, owner_kind }) => [
          id,
          {
            merchantIds: merchant_id === null ? [] : [merchant_id],
            roles: ['deposit', 'treasury'],
            addresses: [],
            movesDeposits: false,
            isForOthers: owner_kind === 'refund',
          },
        ]),
      ),
    ),
  book: bookTopUp,
  isGasPaid: () => true,
  reverted: topUpAgain,
  unbook: (tx, mined) => reverse(tx, `gas/${mined.intentId}`),
  // The workflow of the tokens processes it.
  openRows: [],
  shortfallEnds: null,
};

/** The transfers that it was to pay for still wait: plans the same top-up once more, to be estimated anew. */
function topUpAgain(tx: EntityManager, { id }: IntentRow): Promise<unknown> {
  return tx.query('SELECT repeat_top_up($1)', [id]);
}

async function bookTopUp(tx: EntityManager, { intent, mined, paid }: Booking): Promise<void> {
  const to = await accountAt(tx, intent.network, intent.outputs[0]!.address);
  const value = fromUnits(BigInt(mined.moved_units), assetOf(paid.native).decimals);
  await ensureMined(tx, { ...paid, from: 'A:gas' }, (chainFee) =>
    gasJournal({ intentId: intent.id, native: paid.native, value, chainFee, to }),
  );
}
