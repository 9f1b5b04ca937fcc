import type { EntityManager } from 'typeorm';
import { lockConversion } from '../../db/conversions/conversions';
import { readOrderRow, swapFacts } from '../../db/conversions/swaps';
import { minedOf, ensureMined } from '../../db/ledger/ledger';
import { assetOf } from '../../domain/chains/assets';
import { fundConversionJournal } from '../../domain/ledger/ledger';
import { toUnits, fit } from '../../domain/money';
import type { ServedIntent, Purpose } from '../purpose';
import { openIntents, summaryAs, type OutgoingKind } from './kind';

export const swapDeposit: OutgoingKind = {
  kind: 'fund',
  summary: summaryAs('Deposit at the swap provider'),
  owner: 'conversion',
  purpose: swapPurpose,
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

/** Our deposit at the provider: to the order's address, of the order's amount, while it waits for it. */

async function swapPurpose(tx: EntityManager, intent: ServedIntent): Promise<Purpose | null> {
  const conversion = await lockConversion(tx, intent.ref);
  const row = conversion && (await readOrderRow(tx, intent.ref));
  if (!conversion || !row?.deposit_address) return null;
  const { decimals } = assetOf(conversion.from_currency);
  const units = toUnits(fit(row.amount, decimals, 'down'), decimals).toString();
  return {
    currency: conversion.from_currency,
    merchantId: conversion.merchant_id,
    outputs: [{ address: row.deposit_address, units }],
    held: null,
    mayBeSigned: async () => {
      const { status, order, isOverdue } = await swapFacts(tx, conversion, row);
      const reason = `the conversion is ${status}, its order ${row.status}`;
      if (status === 'processing' && order === 'waiting' && !isOverdue) return { state: 'go' };
      const isOpen = status === 'processing' && (order === 'working' || order === 'finished' || order === 'unknown');
      return { state: isOpen ? 'waiting' : 'dropped', reason };
    },
    isUnderWay: conversion.status !== 'failed',
    stored: () => Promise.resolve(),
    sent: () => Promise.resolve(),
    async ended(mined) {
      if (!mined.success) return;
      const { id, from_currency: currency } = conversion;
      const paid = minedOf(currency, 'A:treasury', mined);
      await ensureMined(tx, paid, (chainFee) =>
        fundConversionJournal({ id, currency, amount: row.amount, native: paid.native, chainFee }),
      );
    },
  };
}
