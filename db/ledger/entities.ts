import type { EntrySource, EntryType } from '../../domain/ledger/entry';
import { entity, bigint, id, jsonb, key, nullable, numeric, text, timestamptz } from '../entity';

/** Journals, balances, statements and proofs. */

export const journalEntity = entity('journal', {
  id: key(bigint()),
  key: text(),
  entry_type: nullable(text<EntryType | 'conversion'>()),
  source_type: nullable(text<EntrySource>()),
  source_id: nullable(text()),
  content_hash: text(),
  reverses: nullable(bigint()),
  details: jsonb(),
  created_at: timestamptz(),
});

export const postingEntity = entity('posting', {
  id: key(bigint()),
  journal_id: bigint(),
  debit: text(),
  credit: text(),
  asset: text(),
  amount: numeric(60, 18),
});

export const balanceEntity = entity('balance', {
  account: key(text()),
  asset: key(text()),
  amount: numeric(60, 18),
});

export const ledgerEntryEntity = entity('ledger_entry', {
  seq: key(bigint()),
  journal_id: bigint(),
  merchant_id: id(),
  asset: text(),
  type: text<EntryType>(),
  amount: numeric(60, 18),
  reserved_change: numeric(60, 18),
  balance_after: numeric(60, 18),
  reserved_after: numeric(60, 18),
  fiat_currency: nullable(text()),
  fiat_rate: nullable(numeric(60, 18)),
  source_type: text<EntrySource>(),
  source_id: nullable(text()),
  tx_id: nullable(text()),
  reversal_of: nullable(bigint()),
  created_at: timestamptz(),
});

export const liabilityTreeEntity = entity('liability_tree', {
  id: key(bigint()),
  root: text(),
  assets: jsonb(),
  created_at: timestamptz(),
});

export const liabilityLeafEntity = entity('liability_leaf', {
  tree_id: key(bigint()),
  merchant_id: key(text()),
  currency: key(text()),
  leaf: jsonb(),
  path: jsonb(),
});
