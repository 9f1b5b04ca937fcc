import type { EntityManager } from 'typeorm';
import { ensureMined, minedOf, reverse } from '../../db/ledger/ledger';
import { assetOf, baseUnits } from '../../domain/chains/assets';
import { kinds, type Kind, type KindFacts } from '../../domain/txmanager/kinds';
import { outgoingKinds } from '../../txmanager/kinds';
import { openIntents, obligationsByRef, summaryAs, type OutgoingKind } from '../../txmanager/kinds/kind';
import type { Obligation, ServedIntent } from '../../txmanager/obligation';
import { needsOwnModules } from '../own-modules';
import { ownerWorkflows, workflowIds, type OwnerKind, type RowWorkflow } from '../../domain/workflow-ids';

/** A kind of outgoing money that the product does not have: the platform's own money is granted to somebody. Import
 *  this file before what shall know the kind: the two lists are added to when it is loaded. */

export const grantTable = `CREATE TABLE grant_order (
  id char(24) PRIMARY KEY, merchant_id char(24) NOT NULL, currency text NOT NULL, gross_amount numeric NOT NULL,
  net_amount numeric NOT NULL, address text NOT NULL, destination_tag text, tx_id text, status text NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now());
  ALTER TABLE intent DROP CONSTRAINT intent_owner_kind_check;
  ALTER TABLE incident DROP CONSTRAINT incident_subject_kind_check`;
type GrantRow = {
  id: string;
  merchant_id: string;
  currency: string;
  net_amount: string;
  address: string;
  status: string;
};

export const grantWorkflow = (id: string): string => `grant/${id}`;
const ownerKind = 'grant' as OwnerKind;
export const grantOwner = (id: string) => ({ kind: ownerKind as 'withdrawal', id });
const setStatus = (tx: EntityManager, id: string, status: string, txId: string | null = null): Promise<unknown> =>
  tx.query('UPDATE grant_order SET status = $2, tx_id = coalesce($3, tx_id) WHERE id = $1', [id, status, txId]);

async function grantObligations(
  tx: EntityManager,
  intents: readonly ServedIntent[],
): Promise<ReadonlyMap<string, Obligation>> {
  const rows = await tx.query<GrantRow[]>(
    `SELECT id, merchant_id, currency, trim_scale(net_amount)::text AS net_amount, address, status
       FROM grant_order WHERE id = ANY($1) ORDER BY id FOR UPDATE`,
    [intents.map((intent) => intent.ref)],
  );
  return obligationsByRef(intents, rows, (row) => obligationOf(tx, row));
}

function obligationOf(tx: EntityManager, row: GrantRow): Obligation {
  const { id, currency, address, status } = row;
  return {
    currency,
    merchantId: row.merchant_id,
    outputs: [{ address, units: baseUnits(currency, row.net_amount).toString() }],
    fromDeposits: null,
    row: {
      name: `Grant ${id}`,
      state: status === 'pending' ? 'due' : 'other',
      says: `Grant ${id} is ${status}`,
      approval: null,
      payees: [],
      addedFees: [],
      limitUse: null,
    },
    isUnderWay: status === 'processing' || status === 'broadcast',
    givenUp: () => setStatus(tx, id, 'failed'),
    stored: () => setStatus(tx, id, 'processing'),
    sent: (txId) => setStatus(tx, id, 'broadcast', txId),
    async ended(mined) {
      if (!mined.success) return void (await setStatus(tx, id, 'failed', mined.tx_id));
      const paid = minedOf(currency, 'A:treasury', mined);
      await ensureMined(tx, paid, (chainFee) => ({
        key: `grant/${id}`,
        entry: null,
        postings: [
          { debit: 'E:loss', credit: 'A:treasury', asset: assetOf(currency).currency, amount: row.net_amount },
          { debit: 'E:network', credit: 'A:treasury', asset: paid.native, amount: chainFee },
        ],
      }));
      await setStatus(tx, id, 'completed', mined.tx_id);
    },
  };
}

async function reopenGrants(tx: EntityManager, network: string, height: number): Promise<void> {
  await tx.query(
    `UPDATE grant_order g SET status = 'broadcast' FROM intent i JOIN attempt a ON a.intent_id = i.id
      WHERE i.kind = 'grant' AND i.ref = g.id AND a.network = $1 AND a.height > $2 AND a.status = 'final'`,
    [network, height],
  );
}

const grant: OutgoingKind = {
  kind: 'grant' as Kind,
  summary: summaryAs('Grant'),
  owner: ownerKind,
  obligation: grantObligations,
  reopen: reopenGrants,
  unbook: (tx, { intentId }) =>
    tx
      .query<Array<{ ref: string }>>('SELECT ref FROM intent WHERE id = $1', [intentId])
      .then(([row]) => reverse(tx, `grant/${row!.ref}`)),
  openRows: [
    {
      workflow: 'grant' as RowWorkflow,
      sql: `SELECT g.id, jsonb_build_object('Currency', g.currency) AS attributes FROM grant_order g
             WHERE g.updated_at < now() - interval '60 seconds'
               AND (g.status = 'pending' OR EXISTS (${openIntents(ownerKind, 'g.id')}))`,
    },
  ],
  shortfallEnds: `EXISTS (SELECT FROM grant_order g
    WHERE i.subject_kind = 'grant' AND g.id = i.subject_id::bpchar AND g.status = 'cancelled')`,
};
const facts: KindFacts = {
  leaves: true,
  spends: 'treasury',
  isSettled: false,
  limit: null,
  record: 'grant_order',
  holdsIn: 'grant_order',
  borne: null,
  invoiced: null,
  onlyPaid: null,
  statement: null,
};

Object.assign(kinds, { grant: facts });
Object.assign(workflowIds, { grant: grantWorkflow });
Object.assign(ownerWorkflows, { grant: 'grant' });
needsOwnModules();
(outgoingKinds as OutgoingKind[]).push(grant);
