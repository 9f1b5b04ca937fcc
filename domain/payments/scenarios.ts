import { assetOf, assetsOn, isByLightning, networkOf, type Asset } from '../chains/assets';
import type { PaymentStatus } from './payment';

/** What a payer does in a test instance, and in which statuses of a payment it makes sense. */
const scenarios = {
  paid: ['WAITING', 'PARTIALLY_PAID'],
  underpaid: ['WAITING'],
  overpaid: ['WAITING', 'PARTIALLY_PAID'],
  late: ['WAITING', 'EXPIRED'],
  wrong_currency: ['WAITING', 'PARTIALLY_PAID'],
  reorg: ['WAITING', 'PARTIALLY_PAID'],
  double_deposit: ['WAITING', 'PARTIALLY_PAID'],
} as const satisfies Record<string, readonly PaymentStatus[]>;
export type Scenario = keyof typeof scenarios;
export const scenarioNames = Object.keys(scenarios) as Scenario[];

const noNode = 'Nobody pays by simulation over Lightning: pay the invoice with a wallet of the test chain';
export const noAddress = 'The payment has no address: choose a currency before';

/** What a payer may send in place of `currency`; undefined: its network has nothing else. */
export const otherAsset = (currency: string): Asset | undefined =>
  assetsOn([assetOf(currency).network]).find((one) => one.currency !== currency);

/** Why a payment cannot go through the scenario as it is; null: it can. */
export function faultOfScenario(
  scenario: Scenario,
  { status, currency }: Readonly<{ status: PaymentStatus; currency: string | null }>,
): string | null {
  const wanted: readonly PaymentStatus[] = scenarios[scenario];
  if (!wanted.includes(status)) return `${scenario} needs a payment that is ${wanted.join(' or ')}: this is ${status}`;
  if (currency === null) return noAddress;
  if (isByLightning(currency)) return noNode;
  const { name, expiring } = networkOf(currency);
  if (scenario === 'reorg' && expiring) return `Nothing of ${name} counts before it is final: no reorg takes it back`;
  if (scenario !== 'wrong_currency' || otherAsset(currency)) return null;
  return `wrong_currency needs another asset on the payment's network: ${name} has none`;
}
