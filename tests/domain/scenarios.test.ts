import { assets, networkOf } from '../../domain/chains/assets';
import { faultOfScenario } from '../../domain/payments/scenarios';

it('plays no reorganisation where nothing counts before it is final', () => {
  const refused = assets.flatMap(({ currency }) =>
    faultOfScenario('reorg', { status: 'WAITING', currency }) === null ? [] : [currency],
  );
  expect(refused).toEqual(['XRP', 'TRX', 'USDT_TRC20']);
  for (const currency of refused) {
    const { name } = networkOf(currency);
    expect(faultOfScenario('reorg', { status: 'WAITING', currency })).toContain(`Nothing of ${name}`);
    expect(faultOfScenario('paid', { status: 'WAITING', currency })).toBeNull();
  }
});
