import { shown } from '../../domain/payments/shown';
import { Type } from 'typebox';
import { payableAsset } from '../../domain/chains/assets';
import { DomainError } from '../../domain/errors';
import { minimums } from '../../db/pricing/pricing';
import type { Minimum } from '../../domain/pricing/price';
import type { ApiDeps } from '../http/deps';
import { route } from '../http/route';
import { minimumSchema } from '../http/schemas';

const query = Type.Object({
  feeBps: Type.Optional(
    Type.Unknown({ description: 'Commission in basis points, 1 to 5000; anything else counts as 40.' }),
  ),
});

/** Contract: 4.6: malformed or out of range falls back to 40, silently. */
function feeBpsOf(text: unknown): number {
  const value = typeof text === 'string' && /^\+?\d{1,9}$/.test(text.trim()) ? parseInt(text, 10) : 40;
  return value >= 1 && value <= 5000 ? value : 40;
}

const present = ({ currency, minimum, minimumUsd, feeBps }: Minimum) => ({
  currency,
  minAmountCrypto: shown(minimum, 'up'),
  minAmountUsd: shown(minimumUsd, 'up'),
  feeBps,
});

const read = (deps: ApiDeps, feeBps: unknown): Promise<Minimum[]> =>
  minimums(deps.db, feeBpsOf(feeBps), {
    maxAgeSeconds: deps.config.RATE_MAX_AGE_SECONDS,
    byLightning: deps.config.LIGHTNING_PAYMENTS,
  });

export const listMinimums = route({
  name: 'listMinimums',
  method: 'get',
  path: '/api/v1/min-orders',
  summary: 'Least order of every currency',
  description:
    'Follows the cost of each network; do not keep it for long. Currencies without a fresh rate are left out.',
  tag: 'Currencies',
  envelope: 'A',
  query,
  success: { status: 200, schema: Type.Array(minimumSchema), description: 'One entry per currency.' },
  errors: [],
  async answer({ query: asked }, deps) {
    return { data: (await read(deps, asked.feeBps)).map(present) };
  },
});

export const getMinimum = route({
  name: 'getMinimum',
  method: 'get',
  path: '/api/v1/min-orders/{currency}',
  summary: 'Least order of one currency',
  tag: 'Currencies',
  envelope: 'A',
  params: Type.Object({ currency: Type.String({ description: 'Ticker, any case.' }) }),
  query,
  success: { status: 200, schema: minimumSchema, description: 'The minimum.' },
  errors: ['INVALID_CURRENCY', 'CURRENCY_NOT_AVAILABLE'],
  async answer({ params, query: asked }, deps) {
    const asset = payableAsset(params.currency.toUpperCase(), deps.config.LIGHTNING_PAYMENTS);
    if (!asset) throw new DomainError('INVALID_CURRENCY');
    const minimum = (await read(deps, asked.feeBps)).find(({ currency }) => currency === asset.currency);
    if (!minimum) throw new DomainError('CURRENCY_NOT_AVAILABLE');
    return { data: present(minimum) };
  },
});
