import type { EntityManager } from 'typeorm';
import { lockConversions } from '../../db/conversions/conversions';
import { ordersOf } from '../../db/conversions/swaps';
import { minedOf, ensureMined } from '../../db/ledger/ledger';
import { assetOf } from '../../domain/chains/assets';
import { fundConversionJournal } from '../../domain/ledger/ledger';
import { toUnits, fit } from '../../domain/money';
import type { ConversionRow } from '../../domain/conversions/conversion';
import type { Obligation, RowFacts, ServedIntent } from '../obligation';
import { openIntents, obligationsByRef, summaryAs, type OutgoingKind } from './kind';

export const swapDeposit: OutgoingKind = {
  kind: 'fund',
  summary: summaryAs('Deposit at the swap provider'),
  owner: 'conversion',
  obligation: swapObligations,
  openRows: [
    {
      workflow: 'conversion',
      sql: `SELECT c.id, jsonb_build_object('MerchantId', c.merchant_id, 'Currency', c.from_currency) AS attributes
              FROM conversion c WHERE c.execution_mode = 'external' AND c.updated_at < now() - interval '60 seconds'
               AND (c.status = 'processing' OR EXISTS (${openIntents('conversion', 'c.id')}))`,
    },
  ],
  shortfallEnds: `EXISTS (SELECT FROM conversion c
    WHERE i.subject_kind = 'conversion' AND c.id = i.subject_id::bpchar AND c.status IN ('failed', 'cancelled'))`,
};

/** Our deposits at the provider: to the order's address, of the order's amount, while it waits for it. */
async function swapObligations(
  tx: EntityManager,
  intents: readonly ServedIntent[],
): Promise<ReadonlyMap<string, Obligation>> {
  const ids = intents.map((intent) => intent.ref);
  const conversions = await lockConversions(tx, ids);
  const orders = await ordersOf(tx, ids);
  return obligationsByRef(intents, conversions, (conversion) => {
    const order = orders.find((one) => one.conversion_id === conversion.id);
    return order?.deposit_address ? obligationOf(tx, conversion, order, order.deposit_address) : null;
  });
}

type Order = Awaited<ReturnType<typeof ordersOf>>[number];

function obligationOf(tx: EntityManager, conversion: ConversionRow, order: Order, address: string): Obligation {
  const { id, from_currency: currency, status } = conversion;
  const { decimals } = assetOf(currency);
  return {
    currency,
    merchantId: conversion.merchant_id,
    outputs: [{ address, units: toUnits(fit(order.amount, decimals, 'down'), decimals).toString() }],
    fromDeposits: null,
    row: {
      name: `Conversion ${id}`,
      state: stateOf(conversion, order),
      says: `the conversion is ${status}, its order ${order.status}`,
      approval: null,
      payees: [],
      addedFees: [],
      limitUse: null,
    },
    isUnderWay: status !== 'failed',
    // The conversion's own workflow sees that nothing was sent, and credits back.
    givenUp: () => Promise.resolve(),
    stored: () => Promise.resolve(),
    sent: () => Promise.resolve(),
    async ended(mined) {
      if (!mined.success) return;
      const paid = minedOf(currency, 'A:treasury', mined);
      await ensureMined(tx, paid, (chainFee) =>
        fundConversionJournal({ id, currency, amount: order.amount, native: paid.native, chainFee }),
      );
    },
  };
}

function stateOf({ status }: ConversionRow, { state, is_overdue }: Order): RowFacts['state'] {
  if (status !== 'processing') return 'ended';
  if (state === 'waiting') return is_overdue ? 'ended' : 'due';
  return state === 'working' || state === 'finished' || state === 'unknown' ? 'early' : 'ended';
}
