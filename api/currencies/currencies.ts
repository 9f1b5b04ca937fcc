import { shown } from '../../domain/payments/shown';
import { Type } from 'typebox';
import { explorersOf } from '../../domain/chains/chosen-chain';
import { assetsOn, contractOf, networks } from '../../domain/chains/assets';
import { everyCurrency, freezes } from '../../db/limits/egress';
import { requiredDepth } from '../../db/payments/payments';
import { minimums } from '../../db/pricing/pricing';
import { scanProgress } from '../../db/chains/scan-progress';
import { isSwitchedOn } from '../../db/access/switches';
import { route } from '../http/route';
import { iconPath } from './icons';
import { nullable } from '../http/schemas';

/** A network whose scan is this far behind, beside one block, is slow to notice payments. */
const delayedAfterSeconds = 120;

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
        name: Type.String(),
        decimals: Type.Integer(),
        isToken: Type.Boolean(),
        contractAddress: nullable(Type.String()),
        requiresDestinationTag: Type.Boolean(),
        addressRegex: Type.String(),
        requiredConfirmations: Type.Integer(),
        payin: Type.Boolean({ description: 'Payments can be made in it.' }),
        payout: Type.Boolean({
          description: 'It can be withdrawn and paid out; what is asked for while it cannot is refused.',
        }),
        convert: Type.Boolean({ description: 'It can be converted, from or to.' }),
        status: Type.String({ enum: ['active', 'delayed', 'disabled'] }),
        statusMessage: nullable(Type.String()),
        minAmountUsd: nullable(Type.Number()),
        explorerTxUrl: nullable(
          Type.String({ description: 'With `{txId}` in it; null where the chain has no public one.' }),
        ),
        iconUrl: Type.String(),
      }),
    ),
    description: 'One entry per asset and network that this service offers.',
  },
  errors: [],
  async answer(_, { db, config }) {
    const [least, scans, frozen, isConverting] = await Promise.all([
      minimums(db, 40, config.RATE_MAX_AGE_SECONDS),
      scanProgress(db),
      freezes(db),
      isSwitchedOn(db, 'conversions'),
    ]);
    const explorers = explorersOf(config.networks, config.chain);
    const data = assetsOn(config.networks).map((asset) => {
      const network = networks[asset.network];
      const lag = scans.get(network.id);
      const minimum = least.find(({ currency }) => currency === asset.currency);
      const isSlow = lag !== undefined && lag > delayedAfterSeconds + network.blockSeconds;
      const status = lag === undefined ? 'disabled' : isSlow || !minimum ? 'delayed' : 'active';
      const messages = {
        active: null,
        delayed: isSlow ? 'Payments are noticed late at the moment' : 'No current price; new payments have to wait',
        disabled: 'This network is not watched at the moment',
      };
      return {
        currency: asset.currency,
        asset: asset.asset,
        network: network.id,
        networkName: network.name,
        name: asset.name,
        decimals: asset.decimals,
        isToken: asset.contract !== null,
        contractAddress: contractOf(asset, config.chain),
        requiresDestinationTag: asset.requiresDestinationTag,
        addressRegex: asset.addressRegex,
        requiredConfirmations: requiredDepth(network.id, config.confirmations),
        payin: status !== 'disabled' && minimum !== undefined,
        payout: status !== 'disabled' && !frozen.some((one) => [asset.currency, everyCurrency].includes(one.currency)),
        convert: isConverting && minimum !== undefined,
        status,
        statusMessage: messages[status],
        minAmountUsd: minimum ? shown(minimum.minimumUsd, 'up') : null,
        explorerTxUrl: explorers[network.id] ?? null,
        iconUrl: `${config.API_URL}${iconPath(asset.asset)}`,
      };
    });
    return { data };
  },
});
