import type { Destination } from '../../domain/chains/tags';
import type { AbsenceProof } from '../../domain/txmanager/expiry';
import type { Decision, Moved } from '../../domain/txmanager/differing';
import type { Kind } from '../../domain/txmanager/kinds';
import type { WaitCause } from '../../domain/txmanager/waits';
import type { OwnerKind } from '../../domain/workflow-ids';
import {
  entity,
  bigint,
  bigints,
  boolean,
  id,
  integer,
  jsonb,
  key,
  nullable,
  numeric,
  text,
  texts,
  timestamptz,
} from '../entity';

/** What is sent, and with which transactions. */

export const intentEntity = entity('intent', {
  id: key(bigint()),
  kind: text<Kind>(),
  ref: text(),
  network: text(),
  currency: text(),
  from_address: text(),
  /** `units`: base units as a decimal string; null: all that is left after the fee. */
  outputs: jsonb<Array<Destination & { units: string | null }>>(),
  deposit_ids: bigints(),
  /** Most native base units per unit of work, and in all, that a transaction of this intent may pay. See
   *  domain/txmanager/fee-limits.ts. */
  max_unit_price: numeric(60, 18),
  fee_budget: numeric(78, 0),
  status: text<'planned' | 'stored' | 'sent' | 'mined' | 'final' | 'failed' | 'dead'>(),
  payment_id: nullable(id()),
  merchant_id: nullable(id()),
  owner_kind: text<OwnerKind>(),
  /** Of a lost intent both columns below in one text, for the release before. */
  owner_id: text(),
  /** Whose a lost intent is; null for all others. */
  lost_owner_kind: nullable(text<OwnerKind>()),
  lost_owner_id: nullable(text()),
  /** Its end is in the ledger. */
  booked: boolean(),
  created_at: timestamptz(),
  updated_at: timestamptz(),
  /** How often nothing could be signed for it, as long as nothing was. */
  refusals: integer(),
  /** Attempts up to this number were signed for other deposits; 0: none. */
  void_through: integer(),
  /** Account chains: what its transactions are signed with, and when a node said so; null before one was asked. */
  gas_limit: nullable(bigint()),
  gas_estimated_at: nullable(timestamptz()),
  /** Operators had its transaction replaced: nothing else is signed for it any more. */
  replaced_at: nullable(timestamptz()),
  replaced_by: nullable(id()),
  /** What the record of signatures says of it, where a recovery took it back. */
  lost: nullable(jsonb<object>()),
  /** Why it was not signed when the signer last looked. */
  waits_for: nullable(text<WaitCause>()),
});

export const attemptEntity = entity('attempt', {
  id: key(bigint()),
  intent_id: bigint(),
  n: integer(),
  network: text(),
  tx_id: text(),
  raw: text(),
  from_address: text(),
  nonce: nullable(integer()),
  inputs: texts(),
  unit_price: numeric(60, 18),
  /** Of `unit_price`: not offered, but kept for data on another chain. */
  data_part: numeric(60, 18),
  max_fee_units: numeric(78, 0),
  moved_units: numeric(78, 0),
  outputs: jsonb<Array<Destination & { units: string }>>(),
  status: text<'stored' | 'sent' | 'mined' | 'final' | 'replaced' | 'expired'>(),
  block_hash: nullable(text()),
  height: nullable(bigint()),
  success: nullable(boolean()),
  fee_units: nullable(numeric(78, 0)),
  missing_at_height: nullable(bigint()),
  created_at: timestamptz(),
  sent_at: nullable(timestamptz()),
  final_at: nullable(timestamptz()),
  /** It moves nothing, and takes the nonce of its intent's other attempts: domain/txmanager. */
  is_replacement: boolean(),
  /** Of a transaction that expires, null for all others: the final block that it was signed on, and its last height or
   *  Unix milliseconds, one of both. See domain/txmanager/expiry.ts. */
  valid_from_height: nullable(bigint()),
  valid_from_hash: nullable(text()),
  valid_to_height: nullable(bigint()),
  valid_to_ms: nullable(bigint()),
  /** XRP Ledger: of the account. */
  sequence: nullable(bigint()),
  /** What proves that an expired one is in no block, and never will be. */
  absence: nullable(jsonb<AbsenceProof>()),
  /** A recovery took it back from the record of signatures. Noted of those that expire. */
  is_restored: boolean(),
  /** A final block has it, and it moved something else than was signed: over for its wallet, whatever operators say
   *  that it has paid. */
  differs_at: nullable(timestamptz()),
  /** Of its own currency, what the accounts that it spends from have given; null: what was signed, or nothing. */
  moves: nullable(jsonb<Moved[]>()),
  /** What two operators have said of it, by which request. */
  decision: nullable(text<Decision>()),
  decided_by: nullable(id()),
});

export const attemptAccountEntity = entity('attempt_account', {
  attempt_id: key(bigint()),
  network: text(),
  address: key(text()),
  nonce: integer(),
  units: numeric(78, 0),
  deposit_ids: bigints(),
  tag: text(),
});

export const coinLockEntity = entity('coin_lock', {
  deposit_id: key(bigint()),
  intent_id: bigint(),
});

export const walletSequenceEntity = entity('wallet_sequence', {
  network: key(text()),
  address: key(text()),
  next_nonce: integer(),
  frozen_reason: nullable(text()),
  frozen_at: nullable(timestamptz()),
  tag: text(),
  foreign_sequence: nullable(bigint()),
});

export const walletTurnEntity = entity('wallet_turn', {
  intent_id: key(bigint()),
  /** Since when it waits for its wallet. */
  since: timestamptz(),
  /** When the signer last found that it waits for nothing else; null: it does. */
  ready_at: nullable(timestamptz()),
  /** When it had its turn and could not be signed. */
  passed_at: nullable(timestamptz()),
});
