import { isId } from '../../domain/ids';
import { recordAct } from '../../db/access/audit-log';
import { lockConversion } from '../../db/conversions/conversions';
import { giveUpOnProvider, whyNotGivenUp } from '../conversions/external';
import { invalid, notNow, type OperatorAct } from './act';

export const endConversion: OperatorAct = {
  kind: 'end-conversion',
  title: 'Credit an external conversion back that waits for good',
  fields: { conversionId: 'Id of the conversion.' },
  async validate(tx, payload) {
    const conversionId = payload['conversionId']!;
    const row = isId(conversionId) ? await lockConversion(tx, conversionId) : null;
    if (!row) throw invalid(`No conversion ${conversionId}`);
    const refusal = await whyNotGivenUp(tx, row);
    if (refusal) throw notNow(`Conversion ${conversionId} cannot be ended: ${refusal}`);
    return { conversionId };
  },
  async describe(tx, { conversionId }) {
    const row = (await lockConversion(tx, conversionId!))!;
    const what = `${row.from_amount} ${row.from_currency}`;
    return `Fail conversion ${row.id}, and credit ${what} back to merchant ${row.merchant_id}`;
  },
  async execute(tx, payload, { requestId, reason, actor }) {
    const row = (await lockConversion(tx, payload['conversionId']!))!;
    const refusal = await giveUpOnProvider(tx, row);
    if (refusal) throw notNow(`Conversion ${row.id} cannot be ended: ${refusal}`);
    await recordAct(tx, actor, {
      merchantId: row.merchant_id,
      action: 'conversion.failed',
      target: row.id,
      after: { reason, requestId },
    });
    return `Conversion ${row.id} has failed; ${row.from_amount} ${row.from_currency} are back in the balance`;
  },
};
