import type { EntityManager } from 'typeorm';
import type { Currency, NetworkId } from '../../domain/chains/assets';
import { networks } from '../../domain/chains/assets';
import { compare } from '../../domain/money';
import { openIncidentAgain } from '../incidents';
import { lookAtBalance } from './balance-looks';
import { notifyOwners } from './notify';
import type { RowOf } from '../entity';
import type { depositEntity } from '../payments/entities';

/** After a reorganisation a contract may emit another transfer at the position in its transaction's logs that an
 *  earlier one had. The key of a deposit stays (I6); its row takes the new content where it is orphaned and nothing was
 *  ever booked for it. */

/** A transfer to an address of ours, as its deposit states it. */
export type Content = Readonly<{
  txId: string;
  index: number;
  address: string;
  /** Of the receiver of ours; '': the address itself. */
  tag: string;
  /** What the transfer carries. */
  statedTag: string | null;
  role: 'deposit' | 'treasury' | 'gas';
  paymentId: string | null;
  currency: Currency | null;
  amount: string;
  isDust: boolean;
}>;

type Row = Pick<
  RowOf<typeof depositEntity>,
  'id' | 'address' | 'tag' | 'stated_tag' | 'currency' | 'amount' | 'payment_id'
> & { key: string; isOpen: boolean };

const keyOf = ({ txId, index }: Pick<Content, 'txId' | 'index'>): string => `${txId}:${index}`;

/** Gives orphaned rows the content that their keys have now. Returns the keys of transfers that must not be stored: the
 *  books have something else under their key, so that they are found by balance. */
export async function takeNewContent(
  tx: EntityManager,
  network: NetworkId,
  contents: readonly Content[],
  block: Readonly<{ hash: string; height: number; time: number }>,
): Promise<ReadonlySet<string>> {
  const refused = new Set<string>();
  if (networks[network].kind === 'utxo') return refused; // an output's content is in its transaction's id
  const rows = await tx.query<Row[]>(
    `SELECT d.id, d.tx_id || ':' || d.out_index AS key, d.address, d.tag, d.stated_tag, d.currency,
            d.stated_amount::text AS amount, d.payment_id,
            d.allocation IS NULL AND d.child_payment_id IS NULL AND NOT EXISTS (
              SELECT FROM journal j
               WHERE j.key IN (concat('deposit/', d.network, '/', d.tx_id, '/', d.out_index),
                               concat('capital/', d.network, '/', d.tx_id, '/', d.out_index),
                               concat('unclaimed/', d.network, '/', d.tx_id, '/', d.out_index))) AS "isOpen"
       FROM deposit d JOIN unnest($2::text[], $3::integer[]) AS k (tx_id, out_index) USING (tx_id, out_index)
      WHERE d.network = $1 AND d.status = 'orphaned' ORDER BY d.id FOR UPDATE OF d`,
    [network, contents.map(({ txId }) => txId), contents.map(({ index }) => index)],
  );
  const byKey = new Map(contents.map((content) => [keyOf(content), content]));
  for (const row of rows) {
    const content = byKey.get(row.key)!;
    if (
      row.address === content.address &&
      row.stated_tag === content.statedTag &&
      row.currency === content.currency &&
      compare(row.amount, content.amount) === 0
    )
      continue;
    if (row.isOpen) await change(tx, row, content, block);
    else {
      refused.add(row.key);
      await displace(tx, network, row, content);
    }
  }
  return refused;
}

async function change(
  tx: EntityManager,
  row: Row,
  content: Content,
  block: Readonly<{ hash: string; height: number; time: number }>,
): Promise<void> {
  const { address, tag, statedTag, role, paymentId, currency, amount, isDust } = content;
  await notifyOwners(tx, [row.id]);
  await tx.query(
    `UPDATE deposit SET address = $2, role = $3, payment_id = $4, currency = $5, amount = $6, stated_amount = $6,
            is_dust = $7, first_seen_at = least(clock_timestamp(), to_timestamp($8)), first_seen_height = $9,
            rated_at = NULL, rate_id = NULL, exchange_rate = NULL, quote_amount = NULL, tag = $10, stated_tag = $11
      WHERE id = $1`,
    [row.id, address, role, paymentId, currency, amount, isDust, block.time, block.height, tag, statedTag],
  );
  const said = {
    address: row.address,
    tag: row.tag,
    currency: row.currency,
    amount: row.amount,
    paymentId: row.payment_id,
  };
  await tx.query('INSERT INTO deposit_change (deposit_id, block_hash, before, after) VALUES ($1, $2, $3, $4)', [
    row.id,
    block.hash,
    JSON.stringify(said),
    JSON.stringify({ address, tag, currency, amount, paymentId }),
  ]);
}

/** The key has journals of the earlier transfer. What the new one brought to a deposit address is found by balance. */
async function displace(tx: EntityManager, network: NetworkId, row: Row, content: Content): Promise<void> {
  const { address, currency, role } = content;
  await openIncidentAgain(tx, {
    kind: 'deposit-displaced',
    subject: { kind: 'deposit', id: row.id },
    details: { ...content, was: { address: row.address, currency: row.currency, amount: row.amount } },
  });
  if (currency !== null && role === 'deposit')
    await lookAtBalance(tx, { network, address, currency }, 'displaced', networks[network].reorgWindow);
}
