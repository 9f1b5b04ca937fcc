import { shown } from '../../domain/payments/shown';
import { Type } from 'typebox';
import { explorersOf, isSimulated } from '../../domain/chains/chosen-chain';
import { carrierOf, contractOf, isByLightning, networks, payableOn } from '../../domain/chains/assets';
import { coinName, currencyStatus, networkStatuses, sortOffers, usualSeconds } from '../../domain/chains/coins';
import { everyCurrency, freezes } from '../../db/limits/outbound';
import { nodeNow } from '../../db/lightning/node';
import { depthOf } from '../../db/payments/payments';
import { minimumAt } from '../../domain/pricing/price';
import { offersNow } from '../../db/pricing/pricing';
import { isLightningConverted } from '../../db/conversions/conversions';
import { isSwitchedOn } from '../../db/access/switches';
import { route } from '../http/route';
import { iconPath } from './icons';
import { nullable } from '../http/schemas';

/** The commission that `minAmountUsd` is counted with, in hundredths of a percent. */
const usualFeeBps = 40;

export const listCurrencies = route({
  name: 'listCurrencies',
  method: 'get',
  path: '/api/v1/currencies',
  summary: 'Every currency, and how it is doing',
  tag: 'Currencies',
  envelope: 'A',
  success: {
    status: 200,
    schema: Type.Array(
      Type.Object({
        currency: Type.String(),
        asset: Type.String(),
        network: Type.String(),
        networkName: Type.String(),
        coinName: Type.String({ description: 'The name of `asset`, whatever its network.' }),
        name: Type.String(),
        decimals: Type.Integer(),
        isToken: Type.Boolean(),
        contractAddress: nullable(Type.String()),
        requiresDestinationTag: Type.Boolean(),
        simulated: Type.Optional(
          Type.Boolean({ description: 'True in a sandbox that plays the network: no coins of it move. Else absent.' }),
        ),
        addressRegex: Type.String(),
        requiredConfirmations: Type.Integer(),
        payin: Type.Boolean({ description: 'Payments can be made in it.' }),
        payout: Type.Boolean({
          description: 'It can be withdrawn and paid out; what is asked for while it cannot is refused.',
        }),
        convert: Type.Boolean({ description: 'It can be converted, from or to; BTC_LN to BTC alone.' }),
        status: Type.String({
          enum: [...networkStatuses],
          description: '`delayed`: payments are noticed late, or nothing can be priced; `disabled`: not watched.',
        }),
        statusMessage: nullable(Type.String()),
        minAmountUsd: nullable(Type.Number()),
        explorerTxUrl: nullable(
          Type.String({ description: 'With `{txId}` in it; null where the chain has no public one.' }),
        ),
        iconUrl: Type.String(),
        payerFeeUsd: nullable(
          Type.Number({ description: 'About what the network takes from who pays; null: not known.' }),
        ),
        estimatedSeconds: Type.Integer({ description: 'How long the required confirmations usually take.' }),
      }),
    ),
    description:
      'One entry per asset and network that this service offers: coin by coin, and of each coin the network first ' +
      'that is cheapest for the payer.',
  },
  errors: [],
  async answer(_, { db, config }) {
    const [offers, node, frozen, isConverting, isConverted] = await Promise.all([
      offersNow(db, { merchantId: null, fiat: 'USD', maxAgeSeconds: config.RATE_MAX_AGE_SECONDS }),
      nodeNow(db),
      freezes(db),
      isSwitchedOn(db, 'conversions'),
      isLightningConverted(db),
    ]);
    const explorers = explorersOf(config.networks, config.chain);
    const listed = payableOn(config.networks, config.LIGHTNING_PAYMENTS).map((asset) => {
      const offer = offers.get(asset.currency)!;
      const told = currencyStatus(asset, offer, node, { isOn: true, isPriced: offer.price !== null });
      return { asset: asset.asset, currency: asset.currency, ...offer, ...told, entry: asset };
    });
    const data = sortOffers(listed).map(({ entry: asset, price, payerFee, status, statusMessage, isOpen }) => {
      const network = networks[asset.network];
      const confirmations = depthOf(asset, config.confirmations);
      const isOnChain = !isByLightning(asset.currency);
      return {
        currency: asset.currency,
        asset: asset.asset,
        network: network.id,
        networkName: carrierOf(asset),
        coinName: coinName(asset),
        name: asset.name,
        decimals: asset.decimals,
        isToken: asset.contract !== null,
        contractAddress: contractOf(asset, config.chain),
        requiresDestinationTag: asset.requiresDestinationTag,
        ...(isSimulated(network, config.chain) ? { simulated: true } : {}),
        addressRegex: asset.addressRegex,
        requiredConfirmations: confirmations,
        payin: isOpen,
        payout:
          (isOnChain || config.LIGHTNING_WITHDRAWALS) &&
          status !== 'disabled' &&
          !frozen.some((one) => [asset.currency, everyCurrency].includes(one.currency)),
        convert: (isOnChain || isConverted) && isConverting && price !== null,
        status,
        statusMessage,
        minAmountUsd: price ? shown(minimumAt(asset.currency, price, usualFeeBps).minimumUsd, 'up') : null,
        explorerTxUrl: (isOnChain && explorers[network.id]) || null,
        iconUrl: `${config.API_URL}${iconPath(asset.asset)}`,
        payerFeeUsd: payerFee === null ? null : shown(payerFee, 'up'),
        estimatedSeconds: usualSeconds(network.id, confirmations),
      };
    });
    return { data };
  },
});
