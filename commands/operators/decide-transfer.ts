import type { EntityManager } from 'typeorm';
import { recordAct } from '../../db/access/audit-log';
import { resolveIncident } from '../../db/incidents';
import { correctionsFor, keepDecision, lockDiffering, type DifferingTransfer } from '../../db/txmanager/differing';
import { assetOf } from '../../domain/chains/assets';
import { fromUnits } from '../../domain/money';
import { decisions, lossOf, whyNotFailed, type Decision } from '../../domain/txmanager/differing';
import { invalid, notNow, type OperatorAct, type Payload } from './act';

type Asked = Readonly<{ transfer: DifferingTransfer; decision: Decision }>;

/** The transfer, locked, where this may be said of it. A request is about one mining: after a reorganisation the
 *  transaction may be in another block, and have moved something else. */
async function decidable(tx: EntityManager, payload: Payload): Promise<Asked> {
  const { intentId = '', outcome } = payload;
  if (!/^\d{1,18}$/.test(intentId)) throw invalid('intentId must be the number of an intent');
  const decision = decisions.find((one) => one === outcome);
  if (!decision) throw invalid(`outcome must be one of ${decisions.join(', ')}`);
  const transfer = await lockDiffering(tx, intentId);
  if (!transfer)
    throw notNow(`Intent ${intentId} has no transaction in a final block that moved something else than was signed`);
  if (transfer.decision !== null)
    throw notNow(`Two operators have said that it has ${transfer.decision}: intent ${intentId} ends with that`);
  const { txId = transfer.txId, blockHash = transfer.blockHash } = payload;
  if (txId !== transfer.txId || blockHash !== transfer.blockHash)
    throw notNow(`Transaction ${transfer.txId} is in block ${transfer.blockHash} now: ask again`);
  const fault = decision === 'failed' ? whyNotFailed(transfer) : null;
  if (fault !== null) throw notNow(`Intent ${intentId} can only have paid: ${fault}`);
  return { transfer, decision };
}

/** `49.5 to T…, 0.5 to T…`. */
const listed = (currency: string, parts: ReadonlyArray<Readonly<{ address: string; units: string }>>): string =>
  parts.map(({ address, units }) => `${fromUnits(BigInt(units), assetOf(currency).decimals)} to ${address}`).join(', ');

const ends: Readonly<Record<Decision, (transfer: DifferingTransfer) => string>> = {
  paid: () => 'What it was for counts as paid',
  failed: ({ paysMerchant }) =>
    paysMerchant ? 'Its merchant is credited instead' : 'What it was for has failed, and its money is back',
};

export const decideTransfer: OperatorAct = {
  kind: 'decide-transfer',
  title: 'Say of a transfer that moved something else than was signed that it has paid, or has failed',
  fields: {
    intentId: 'Number of the intent, as its incident shows it.',
    outcome: decisions.map((one) => `\`${one}\``).join(', '),
  },
  async validate(tx, payload) {
    const { transfer, decision } = await decidable(tx, payload);
    const { intentId, txId, blockHash } = transfer;
    return { intentId, outcome: decision, txId, blockHash };
  },
  async describe(tx, payload) {
    const { transfer, decision } = await decidable(tx, payload);
    const { kind, ref, intentId, currency, txId, outputs, moves, merchantId } = transfer;
    const loss = lossOf(await correctionsFor(tx, transfer, decision));
    const amount = fromUnits(loss < 0n ? -loss : loss, assetOf(currency).decimals);
    const ours =
      loss === 0n ? 'nothing is lost' : loss > 0n ? `${amount} ${currency} are lost` : `${amount} ${currency} stay`;
    const whose = merchantId === null ? 'of no merchant' : `merchant ${merchantId}`;
    const gave = moves.map(({ to: address, units }) => ({ address, units }));
    return [
      `Say that ${kind} ${ref} (intent ${intentId}, ${whose}) has ${decision}: ${txId} was signed to give`,
      `${listed(currency, outputs)} ${currency}, and gave ${listed(currency, gave)}.`,
      `${ends[decision](transfer)}; for the platform ${ours}`,
    ].join(' ');
  },
  async execute(tx, payload, { requestId, reason, actor }) {
    const { transfer, decision } = await decidable(tx, payload);
    const { attemptId, intentId, kind, ref, merchantId, txId } = transfer;
    await keepDecision(tx, attemptId, { decision, requestId });
    await resolveIncident(tx, {
      kind: 'transfer-differs',
      subject: { kind: 'intent', id: intentId },
      distinction: txId,
    });
    await recordAct(tx, actor, {
      merchantId,
      action: 'transfer.decided',
      target: intentId,
      after: { kind, ref, txId, outcome: decision, reason, requestId },
    });
    return `Intent ${intentId} has ${decision}: it ends with the next look at its network`;
  },
};
