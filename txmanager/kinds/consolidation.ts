import type { EntityManager } from 'typeorm';
import { minedOf, ensureMined, reverse } from '../../db/ledger/ledger';
import { requestSignal } from '../../db/temporal/temporal-requests';
import { ownedBy, planIntent, type IntentRow } from '../../db/txmanager/intents';
import { networkOf, assetOf } from '../../domain/chains/assets';
import { accountOf, gasFor, workOfTransfer } from '../../domain/chains/costs';
import { newId } from '../../domain/ids';
import { feeJournal } from '../../domain/ledger/ledger';
import type { Source } from '../../domain/treasury/treasury';
import { gasWalletFor } from '../gas-wallet';
import { limitsFor, feeLimits } from '../../domain/txmanager/fee-limits';
import type { ServedIntent, Obligation } from '../obligation';
import { workflowIds } from '../../domain/workflow-ids';
import { summaryAs, type OutgoingKind } from './kind';

export const consolidation: OutgoingKind = {
  kind: 'consolidate',
  summary: summaryAs('Move'),
  owner: 'consolidate',
  obligation: consolidationObligations,
  unbook: (tx, mined) => reverse(tx, `fee/${mined.txId}`),
  openRows: [
    {
      workflow: 'consolidate',
      sql: `SELECT DISTINCT i.owner_id AS id, '{}'::jsonb AS attributes FROM intent i
             WHERE i.owner_kind = 'consolidate' AND NOT i.booked AND i.status <> 'dead'
               AND i.created_at < now() - interval '60 seconds'`,
    },
  ],
  shortfallEnds: null,
};

/** Moves what is free on an address of ours to a lane, or a part of it. `source.free`: how much, of native coins with
 *  the fee. */
export async function planConsolidation(
  tx: EntityManager,
  currency: string,
  lane: string,
  source: Source,
  price: string,
): Promise<string> {
  const chain = accountOf(currency);
  const { id: network, native } = chain;
  const ref = newId();
  const isToken = assetOf(currency).contract !== null;
  const gas = gasFor(chain, price, 1);
  const common = {
    ref,
    network,
    deposit_ids: [],
    payment_id: null,
    merchant_id: null,
    ...ownedBy({ kind: 'consolidate', id: ref }),
  };
  const limits = limitsFor(gas.maxUnitPrice, workOfTransfer(currency));
  const topUp = feeLimits(network, price, chain.work.native);
  if (isToken)
    await planIntent(tx, {
      ...common,
      kind: 'gas',
      ref: `consolidate/${ref}`,
      currency: native,
      from_address: await gasWalletFor(tx, network, source.address, BigInt(gas.units)),
      outputs: [{ address: source.address, units: gas.units }],
      max_unit_price: topUp.maxUnitPrice,
      fee_budget: topUp.feeBudget,
    });
  const keep = isToken ? 0n : BigInt(gas.maxUnitPrice) * chain.work.native;
  await planIntent(tx, {
    ...common,
    kind: 'consolidate',
    currency,
    from_address: source.address,
    outputs: [{ address: lane, units: (source.free - keep).toString() }],
    max_unit_price: limits.maxUnitPrice,
    fee_budget: limits.feeBudget,
  });
  await requestConsolidation(tx, ref, currency);
  return ref;
}

export const requestConsolidation = (tx: EntityManager, ref: string, currency: string): Promise<unknown> =>
  requestSignal(tx, {
    workflow: 'consolidate',
    workflowId: workflowIds.consolidate(ref),
    args: [ref],
    signal: 'updated',
    attributes: { Currency: currency, Network: networkOf(currency).id, summary: `${currency} to a hot wallet` },
  });
/** Moves between our own addresses: nothing leaves. */
async function consolidationObligations(
  tx: EntityManager,
  intents: readonly ServedIntent[],
): Promise<ReadonlyMap<string, Obligation>> {
  const rows = await tx.query<Array<Pick<IntentRow, 'id' | 'currency' | 'status'>>>(
    'SELECT id, currency, status FROM intent WHERE id = ANY($1::bigint[])',
    [intents.map((intent) => intent.id)],
  );
  return new Map(rows.map((row) => [row.id, obligationOf(tx, row)]));
}

function obligationOf(
  tx: EntityManager,
  { id, currency, status }: Pick<IntentRow, 'id' | 'currency' | 'status'>,
): Obligation {
  const { native } = networkOf(currency);
  return {
    currency,
    merchantId: null,
    outputs: [],
    fromDeposits: null,
    row: { name: `Move ${id}`, state: 'due', says: '', approval: null, payees: [], addedFees: [], limitUse: null },
    isUnderWay: status === 'stored' || status === 'sent',
    stored: () => Promise.resolve(),
    sent: () => Promise.resolve(),
    async ended(mined) {
      // A reverted one's fee is booked like that of any other.
      if (!mined.success) return;
      const paid = minedOf(native, 'A:treasury', mined);
      await ensureMined(tx, paid, (chainFee) => feeJournal({ ...paid, chainFee }));
    },
  };
}
