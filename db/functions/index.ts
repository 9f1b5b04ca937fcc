import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lightningMovesSql } from './lightning-moves';
import { paymentMovesSql } from './payment-moves';
import { ratedAsFunction } from './rated-as';

/** A file of functions, triggers or views: its current text, which may be applied again at any time. */
export type FunctionFile = Readonly<{ name: string; text: string; hash: string }>;

/** The files of this folder, in the order in which they are applied. A trigger stands in the file of its function,
 *  with what only that function calls; a view or an SQL function after what it reads or calls. */
const names = [
  // everywhere
  'append_only',
  'request_workflow_2',
  'request_workflow',
  'note_rights',
  // operators
  'guard_operator_request',
  'guard_operator_acts',
  'live_key',
  'restart_key_index',
  'claim_address',
  'claim_deposit',
  'skip_ids',
  // payments
  'payment_moves',
  'guard_payment',
  'count_payment',
  'emit_event_3',
  'emit_event_2',
  'emit_event',
  'insert_payment_2',
  'insert_payment',
  'was_settled_to',
  'is_shared_account',
  'guard_choice',
  'watch_elsewhere',
  'open_payment',
  'forget_payers',
  'expire_payers',
  'erase_payers',
  'note_wallet',
  'guard_settlement',
  'guard_requests',
  'rated_as',
  // Lightning
  'lightning_moves',
  'guard_lightning',
  'plan_beside',
  'decide_lightning',
  'record_lightning_taken',
  'end_lightning',
  'claim_lightning',
  'free_idempotency_key',
  'guard_lightning_payment',
  'await_lightning',
  'note_ended_lightning',
  // ledger
  'journal_stands',
  'lightning_free',
  'check_request_journal',
  'post_journal',
  'lock_available',
  'note_held',
  'guard_journal',
  // what we send
  'register_network_key',
  'register_network_keys',
  'branch_key',
  'shared_key',
  'units_from',
  'wallet_total',
  'guard_replacement',
  'guard_decision',
  'drop_intents',
  'repeat_top_up',
  'hold_freezes',
  'admit_destinations',
  'keep_validity',
  'note_absence',
  'withdraw_absence',
  'validities_of',
  'end_void_intents',
  'is_fee_added',
  'guard_refund',
  'guard_withdrawal',
  'guard_payout_leg',
  'note_added_fee',
  'store_payout_signatures',
  'note_payout_sent',
  'deposits_at',
  'restore_signed',
  'take_over_lost',
  // conversions
  'guard_conversion',
  'free_of',
  'post_conversion',
  'conversion_terms',
] as const;

export const functionFile = (name: string, text: string): FunctionFile => ({
  name,
  text,
  hash: createHash('sha256').update(text).digest('hex'),
});

/** Texts that are made of rules of the domain; a change of the rules is applied as any other change of a text. */
const made: Readonly<Record<string, () => string>> = {
  payment_moves: paymentMovesSql,
  lightning_moves: lightningMovesSql,
  rated_as: ratedAsFunction,
};

export const functionFiles = (): FunctionFile[] =>
  names.map((name) => functionFile(name, made[name]?.() ?? readFileSync(join(__dirname, `${name}.sql`), 'utf8')));
