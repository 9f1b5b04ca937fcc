import { Type } from 'typebox';
import { explorersOf } from '../../domain/chains/chosen-chain';
import { refundStatuses } from '../../domain/refunds/refund';
import { checkClaim, claimRefund as claim, readClaim } from '../../commands/refunds/claim';
import { sendDeps, type ApiDeps } from '../http/deps';
import { route } from '../http/route';
import { brandingSchema, exact, line, named, nullable, time } from '../http/schemas';

/** What the holder of a refund's link may see and do: name its address, once. Contract: G3. */

const tag = 'Refunds';
const params = Type.Object({ token: Type.String({ description: 'The last part of the claimUrl.' }) });
const claimSchema = named('RefundClaim', {
  status: Type.String({ enum: [...refundStatuses] }),
  merchantName: Type.String(),
  branding: brandingSchema,
  invoiceId: Type.String({ description: 'Public id of the invoice that was paid.' }),
  currency: Type.String(),
  network: Type.String(),
  amount: exact('Refunded.'),
  networkFee: exact('Of sending it.'),
  feeBearer: Type.String({ enum: ['merchant', 'payer'] }),
  netToDestination: exact('What the address gets.'),
  fiatAmount: Type.String({ description: 'Of amount, at the rate it was asked for.' }),
  fiatCurrency: Type.String(),
  requiresDestinationTag: Type.Boolean(),
  address: nullable(Type.String({ description: 'For BTC_LN the invoice.' })),
  destinationTag: nullable(Type.String()),
  txId: nullable(Type.String({ description: 'For BTC_LN the payment hash.' })),
  explorerTxUrl: nullable(Type.String({ description: 'A public page of a transaction, with `{txId}` in it.' })),
  createdAt: time,
});
const depsOf = ({ codecs, config }: ApiDeps) => ({
  ...sendDeps({ codecs, config }),
  secretsKey: config.SECRETS_KEY,
  explorers: explorersOf(config.networks, config.chain),
});

export const getRefundClaim = route({
  name: 'getRefundClaim',
  method: 'get',
  path: '/refund-claims/{token}',
  summary: 'Get a refund as its payer may see it',
  tag,
  envelope: 'B',
  params,
  success: { status: 200, schema: claimSchema, description: 'The refund.' },
  errors: ['CLAIM_NOT_FOUND'],
  answer: async ({ params: { token } }, deps) => ({ data: await readClaim(deps.db, depsOf(deps), token) }),
});

export const claimRefund = route({
  name: 'claimRefund',
  method: 'post',
  path: '/refund-claims/{token}',
  summary: 'Name the address of a refund',
  description:
    'Without `confirm` the answer is the refund with the address as its network spells it, and nothing happens. The ' +
    'address is final: the same one again answers the same, another one is refused.',
  tag,
  envelope: 'B',
  params,
  body: Type.Object({
    address: line(
      2000,
      'Where it goes: an address of the refund’s network, and of the payer’s own. For BTC_LN an invoice (BOLT 11) of ' +
        'exactly netToDestination.',
    ),
    destinationTag: Type.Optional(line(64, 'Where the network has tags.')),
    confirm: Type.Optional(Type.Boolean()),
  }),
  success: { status: 200, schema: claimSchema, description: 'The refund with its address.' },
  errors: ['CLAIM_NOT_FOUND', 'INVALID_ADDRESS', 'CURRENCY_NOT_AVAILABLE', 'REFUND_STATE'],
  async answer({ params: { token }, body: { confirm, ...wanted } }, deps) {
    if (confirm) return { data: await deps.db.transaction((tx) => claim(tx, depsOf(deps), token, wanted)) };
    const { view, ...receiver } = await checkClaim(deps.db.manager, depsOf(deps), token, wanted);
    return { data: { ...view, ...receiver } };
  },
});
