import type { EntityManager } from 'typeorm';
import { isId } from '../../domain/ids';
import { limitNames, loosened, type OutboundLimits } from '../../domain/limits/limits';
import { isAmount } from '../../domain/money';
import { findMerchant } from '../../db/access/merchants';
import { platformScope } from '../../db/limits/outbound';
import { platformLimits, writeLimits, type LimitsOf } from '../limits/platform-limits';
import { invalid, notNow, type OperatorAct, type Payload } from './act';

type Name = (typeof limitNames)[number];
const words: Readonly<Record<Name, string>> = {
  dailyUsd: 'dollars in 24 hours',
  hourlyCount: 'number in an hour',
  approvalUsd: 'dollars without a second person',
};
const unchanged = 'same';
const unlimited = 'none';

const ofPayload = ({ merchantId }: Payload): LimitsOf => ({
  merchantId: merchantId === platformScope ? null : merchantId!,
});

const isValue = (name: Name, text: string): boolean =>
  text === unchanged ||
  text === unlimited ||
  (name === 'hourlyCount' ? /^(\d{1,6}|1000000)$/.test(text) : isAmount(text));

/** What the limits are and would be. Throws ACT_REFUSED where none becomes looser. */
async function asked(
  tx: EntityManager,
  payload: Payload,
): Promise<Readonly<{ before: OutboundLimits; after: OutboundLimits }>> {
  const before = await platformLimits(tx, ofPayload(payload));
  const { dailyUsd, hourlyCount, approvalUsd } = payload;
  const textOf = (text: string, now: string | null): string | null =>
    text === unchanged ? now : text === unlimited ? null : text;
  const count = textOf(hourlyCount!, before.hourlyCount === null ? null : String(before.hourlyCount));
  const after: OutboundLimits = {
    dailyUsd: textOf(dailyUsd!, before.dailyUsd),
    hourlyCount: count === null ? null : parseInt(count, 10),
    approvalUsd: textOf(approvalUsd!, before.approvalUsd),
  };
  if (!loosened(before, after).length)
    throw notNow('None of these limits is looser than now: set them without a request');
  return { before, after };
}

export const loosenLimits: OperatorAct = {
  kind: 'loosen-limits',
  title: 'Let more leave: loosen the limits of all merchants together, or of one',
  fields: {
    merchantId: `Id of the merchant; \`${platformScope}\` for all together.`,
    dailyUsd: `US dollars within any 24 hours; \`${unlimited}\` for no limit, \`${unchanged}\` to leave it.`,
    hourlyCount: `Withdrawals, batches and refunds within any hour; \`${unlimited}\` or \`${unchanged}\`.`,
    approvalUsd: `US dollars above which a second person approves; \`${unlimited}\` or \`${unchanged}\`.`,
  },
  async validate(tx, payload) {
    const { merchantId } = payload;
    if (merchantId !== platformScope && !(isId(merchantId) && (await findMerchant(tx, merchantId))))
      throw invalid(`No merchant ${merchantId}`);
    for (const name of limitNames)
      if (!isValue(name, payload[name]!)) throw invalid(`${name} must be a number, ${unlimited} or ${unchanged}`);
    await asked(tx, payload);
    return payload;
  },
  async describe(tx, payload) {
    const { before, after } = await asked(tx, payload);
    const changes = limitNames
      .filter((name) => before[name] !== after[name])
      .map((name) => `${words[name]} from ${before[name] ?? unlimited} to ${after[name] ?? unlimited}`);
    const { merchantId } = ofPayload(payload);
    const whose =
      merchantId === null ? 'all merchants together' : ((await findMerchant(tx, merchantId))?.name ?? merchantId);
    return `Loosen what may leave of ${whose}: ${changes.join(', ')}`;
  },
  async execute(tx, payload, { requestId, reason, actor }) {
    const of = ofPayload(payload);
    const { before, after } = await asked(tx, payload);
    await writeLimits(tx, actor, of, { before, after, reason, requestId });
    return `The limits of ${payload['merchantId']} are set`;
  },
};
