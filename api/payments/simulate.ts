import { Type } from 'typebox';
import { networks, type NetworkId } from '../../domain/chains/assets';
import { faucetOf } from '../../domain/chains/chosen-chain';
import type { Config } from '../../domain/config';
import { DomainError } from '../../domain/errors';
import type { PaymentRow } from '../../domain/payments/payment';
import { faultOfScenario, scenarioNames, type Scenario } from '../../domain/payments/scenarios';
import { route } from '../http/route';
import { named } from '../http/schemas';
import { ownPayment, paymentParams } from './payments';

/** What a payer may do, done at once in the sandbox of a test instance. The payer is a part of the sandbox, with keys
 *  of its own: this process has none. */

/** Until the payer has sent its first transaction; `late` waits for the payment to expire before. */
const patienceMs = 25_000;

const simulationSchema = named('Simulation', {
  paymentId: Type.String(),
  scenario: Type.String({ enum: scenarioNames }),
  txId: Type.String({ description: 'The first transaction of the payer. Others may follow.' }),
});

/** Where coins of a public test chain come from, in words. */
function refusalWithout(row: PaymentRow, { chain }: Config): string {
  const network = networks[row.network as NetworkId];
  const faucet = faucetOf(network, chain);
  return faucet === null
    ? 'This instance has no payer of its own: npm start has one in a test instance ' +
        '(MODE=test SANDBOX_DATA=.data-test npm start)'
    : `Nobody pays by simulation on a public test chain. Take coins from the faucet ${faucet} and send them to ` +
        `${row.deposit_address}`;
}

/** Asks the payer. Throws SCENARIO_REFUSED with its words, UPSTREAM_UNAVAILABLE where it does not answer. */
async function ask(config: Config, id: string, scenario: Scenario): Promise<string> {
  let response: Response;
  try {
    response = await fetch(`${config.SIMULATOR_URL}/payments/${id}/${scenario}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${config.SIMULATOR_KEY}` },
      signal: AbortSignal.timeout(patienceMs),
    });
  } catch (error) {
    throw new DomainError('UPSTREAM_UNAVAILABLE', `The simulator does not answer: ${(error as Error).message}`);
  }
  const told = (await response.json()) as { txId: string } | { error: string };
  if ('txId' in told) return told.txId;
  if (response.status === 409) throw new DomainError('SCENARIO_REFUSED', told.error);
  throw new DomainError('INTERNAL_ERROR', `The simulator: ${response.status} ${told.error}`);
}

export const simulatePayment = route({
  name: 'simulatePayment',
  method: 'post',
  path: '/api/v1/test/payments/{paymentId}/simulate',
  summary: 'Let a payer act',
  description:
    'Test instances alone; a live instance has no such path. In a sandbox the payment is paid with real coins of its ' +
    'local chains, and blocks are mined: `paid` in full, `underpaid` with two fifths, `overpaid` with half as much ' +
    'again, `late` after its expiry, which comes at once, `wrong_currency` in another asset of the network, `reorg` ' +
    'in a block that is replaced, `double_deposit` twice. On public test chains the refusal names a faucet.',
  tag: 'Test mode',
  envelope: 'A',
  mode: 'test',
  params: paymentParams,
  body: Type.Object({ scenario: Type.String({ enum: scenarioNames, description: 'What the payer does.' }) }),
  success: { status: 202, schema: simulationSchema, description: 'The payer has begun; the payment follows.' },
  errors: ['PAYMENT_NOT_FOUND', 'SCENARIO_REFUSED', 'SIMULATION_UNAVAILABLE'],
  async answer({ merchant, params, body }, deps) {
    const { row } = await ownPayment(deps, merchant.id, params.paymentId, 'PAYMENT_NOT_FOUND');
    const scenario = body.scenario as Scenario;
    const fault = faultOfScenario(scenario, row);
    if (fault !== null) throw new DomainError('SCENARIO_REFUSED', fault);
    if (!deps.config.SIMULATOR_URL) throw new DomainError('SIMULATION_UNAVAILABLE', refusalWithout(row, deps.config));
    return { status: 202, data: { paymentId: row.id, scenario, txId: await ask(deps.config, row.id, scenario) } };
  },
});
