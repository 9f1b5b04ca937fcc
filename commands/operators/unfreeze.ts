import { payableAsset } from '../../domain/chains/assets';
import { recordAct } from '../../db/access/audit-log';
import { everyCurrency, freezes, unfreeze } from '../../db/limits/outbound';
import { invalid, notNow, type OperatorAct } from './act';

const nameOf = (currency: string): string => (currency === everyCurrency ? 'everything' : currency);

export const unfreezeCurrency: OperatorAct = {
  kind: 'unfreeze',
  title: 'Let a currency leave again',
  fields: { currency: 'Ticker; `*` or `all` for everything.' },
  async validate(tx, payload) {
    const named = payload['currency']!;
    const currency = ['all', everyCurrency].includes(named)
      ? everyCurrency
      : payableAsset(named.toUpperCase(), true)?.currency;
    if (currency === undefined) throw invalid(`No currency ${named}`);
    const frozen = (await freezes(tx)).some((one) => one.currency === currency);
    if (!frozen) throw notNow(`There is no freeze of ${nameOf(currency)}`);
    return { currency };
  },
  async describe(tx, { currency }) {
    const freeze = (await freezes(tx)).find((one) => one.currency === currency);
    return `Lift the freeze of ${nameOf(currency!)}: ${freeze?.reason ?? ''}`;
  },
  async execute(tx, payload, { requestId, reason, actor }) {
    const currency = payload['currency']!;
    if (!(await unfreeze(tx, currency))) throw notNow(`There is no freeze of ${nameOf(currency)}`);
    await recordAct(tx, actor, {
      merchantId: null,
      action: 'egress.unfrozen',
      target: currency,
      after: { reason, requestId },
    });
    return `${nameOf(currency)} may leave`;
  },
};
