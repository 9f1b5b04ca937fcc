import type { EntityManager } from 'typeorm';
import type { ExpiringPlan, TransactionPlan } from '../../domain/chains/chain';
import type { Destination } from '../../domain/chains/tags';
import { setIntentStatus, type IntentRow } from '../../db/txmanager/intents';
import type { Price } from './price';
import { signAndRead } from './read-again';
import { recordedIntent, recordedRows, recordedWindow, type BatchAccount } from './record';
import { codecOf, type Signer } from './signer';

type NewAttempt = Readonly<{
  n: number;
  plan: TransactionPlan | ExpiringPlan;
  price: Pick<Price, 'unitPrice' | 'dataPart'>;
  outputs: ReadonlyArray<Destination & { units: string }>;
  maxFeeUnits: bigint;
  accounts?: readonly BatchAccount[];
  isReplacement?: boolean;
}>;

/** Signs a transaction and keeps it as an attempt of its intent. */
export async function store(
  signer: Signer,
  tx: EntityManager,
  intent: IntentRow,
  { n, plan, price: { unitPrice, dataPart }, outputs, maxFeeUnits, accounts = [], isReplacement = false }: NewAttempt,
): Promise<void> {
  const signed =
    plan.kind === 'expiring' ? signAndRead(signer, intent, plan) : codecOf(signer, intent).sign(signer.seed, plan);
  const window = plan.kind === 'expiring' ? await recordedWindow(tx, intent.id, plan) : null;
  const inputs = plan.kind === 'utxo' ? plan.coins.map((coin) => `${coin.txId}:${coin.vout}`) : [];
  const moved = outputs.reduce((sum, output) => sum + BigInt(output.units), 0n);
  const nonce = plan.kind === 'account' ? plan.nonce : null;
  // It is on disk beside the database before it is in it.
  await signer.record?.keep([
    {
      ...recordedIntent(intent),
      ...(await recordedRows(tx, intent, plan, accounts)),
      ...{ isReplacement, nonce, inputs, txId: signed.txId, raw: signed.raw, unitPrice, dataPart, outputs },
      ...{ maxFeeUnits: maxFeeUnits.toString(), movedUnits: moved.toString() },
      ...(window ? { window } : {}),
    },
  ]);
  const [attempt] = await tx.query<Array<{ id: string }>>(
    `INSERT INTO attempt (intent_id, n, network, tx_id, raw, from_address, nonce, inputs, unit_price, data_part,
        max_fee_units, moved_units, outputs, is_replacement, valid_from_height, valid_from_hash, valid_to_height,
        valid_to_ms, sequence)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19) RETURNING id`,
    [
      intent.id,
      n,
      intent.network,
      signed.txId,
      signed.raw,
      intent.from_address,
      nonce,
      inputs,
      unitPrice,
      dataPart,
      maxFeeUnits.toString(),
      moved.toString(),
      JSON.stringify(outputs),
      isReplacement,
      ...[window?.fromHeight, window?.fromHash, window?.toHeight, window?.toMs, window?.sequence],
    ],
  );
  for (const { address, nonce, units, depositIds } of accounts)
    await tx.query(
      `INSERT INTO attempt_account (attempt_id, network, address, nonce, units, deposit_ids)
          VALUES ($1, $2, $3, $4, $5, $6)`,
      [attempt!.id, intent.network, address, nonce, units.toString(), depositIds],
    );
  await setIntentStatus(tx, intent.id, 'stored', ['planned']);
}
