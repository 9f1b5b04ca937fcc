import fc from 'fast-check';
import { add, compare, divide, fit, isPositive, subtract, times } from '../../domain/money';
import {
  nextSwapStep,
  leastOutput,
  swapMessages,
  type SwapFacts,
  type SwapFunding,
  type SwapRate,
  type SwapStep,
} from '../../domain/conversions/swap';

const facts = (over: Partial<SwapFacts>): SwapFacts => ({
  status: 'processing',
  toCurrency: 'ETH',
  minimum: '10',
  order: 'working',
  isOverdue: false,
  funding: 'sent',
  arrived: [],
  isPaidOut: false,
  isComing: false,
  credited: [],
  returned: [],
  isSilent: false,
  ...over,
});
const eth = (id: string, amount: string) => ({ id, currency: 'ETH', amount });

describe('an external conversion', () => {
  const rows: Array<[what: string, over: Partial<SwapFacts>, step: Partial<SwapStep> & object]> = [
    ['asks for an order first', { order: null, funding: 'none' }, { do: 'order' }],
    [
      'is not sent where there will be none',
      { order: 'refused', funding: 'none' },
      { do: 'fail', message: swapMessages.refused },
    ],
    ['is not sent at a worse price', { order: 'worse', funding: 'none' }, { do: 'fail', message: swapMessages.worse }],
    ['sends to an order that waits', { order: 'waiting', funding: 'none' }, { do: 'fund' }],
    [
      'does not send at the last minute',
      { order: 'waiting', funding: 'none', isOverdue: true },
      { do: 'fail', message: swapMessages.late },
    ],
    ['forgets a plan that came too late', { order: 'waiting', funding: 'planned', isOverdue: true }, { do: 'drop' }],
    ['does not send to one that has expired', { order: 'expired', funding: 'none' }, { do: 'fail' }],
    [
      'does not send where the provider says what we do not know',
      { order: 'unknown', funding: 'none' },
      { do: 'wait', incident: 'swap-unknown' },
    ],
    ['waits for its own transaction', { order: 'failed', funding: 'signed' }, { do: 'wait' }],
    ['fails where it was mined and reverted', { funding: 'lost' }, { do: 'fail', message: swapMessages.failed }],
    ['waits for the provider', {}, { do: 'wait' }],
    ['waits where it says what we do not know', { order: 'unknown' }, { do: 'wait', incident: 'swap-unknown' }],
    ['waits where it missed our deposit', { order: 'expired' }, { do: 'wait', incident: 'swap-expired' }],
    ['believes in money alone', { order: 'finished' }, { do: 'wait' }],
    ['fails where the provider gives up', { order: 'failed' }, { do: 'fail', message: swapMessages.failed }],
    ['fails where it sends back', { order: 'refunded' }, { do: 'fail' }],
    ['does not fail while money is on its way', { order: 'failed', isComing: true }, { do: 'wait' }],
    [
      'completes with what has come',
      { arrived: [eth('1', '10')] },
      { do: 'complete', depositIds: ['1'], amount: '10' },
    ],
    ['credits better terms', { arrived: [eth('1', '10.5')] }, { do: 'complete', amount: '10.5' }],
    [
      'adds up parts',
      { arrived: [eth('1', '4'), eth('2', '6')] },
      { do: 'complete', depositIds: ['1', '2'], amount: '10' },
    ],
    [
      'credits one of two',
      { arrived: [eth('1', '10'), eth('2', '10')] },
      { do: 'complete', depositIds: ['1'], amount: '10' },
    ],
    ['waits for the rest', { arrived: [eth('1', '9')] }, { do: 'wait' }],
    [
      'credits a short one where there is no more',
      { order: 'finished', arrived: [eth('1', '9')], isPaidOut: true },
      { do: 'complete', amount: '9' },
    ],
    [
      'does not take what somebody else sent for the payout',
      { order: 'finished', arrived: [eth('1', '0.001')] },
      { do: 'wait' },
    ],
    [
      'does not take it either where nothing of ours was sent',
      { order: 'finished', funding: 'none', arrived: [eth('1', '0.001')] },
      { do: 'wait', incident: 'swap-unknown' },
    ],
    [
      'tells of a payout that does not come for a day',
      { order: 'finished', arrived: [eth('1', '0.001')], isSilent: true },
      { do: 'wait', incident: 'swap-silent' },
    ],
    [
      'waits for more that is coming before it credits a short one',
      { order: 'finished', arrived: [eth('1', '9')], isPaidOut: true, isComing: true },
      { do: 'wait' },
    ],
    [
      'does not wait for more than enough',
      { order: 'finished', arrived: [eth('1', '10')], isComing: true },
      { do: 'complete', amount: '10' },
    ],
    [
      'takes no other asset',
      { order: 'finished', arrived: [{ id: '1', currency: 'USDT_ERC20', amount: '30000' }] },
      { do: 'wait', incident: 'swap-wrong-asset' },
    ],
    [
      'takes money that is there for an answer',
      { order: 'failed', arrived: [eth('1', '10')] },
      { do: 'complete', incident: 'swap-contradiction' },
    ],
    ['tells of silence', { isSilent: true }, { do: 'wait', incident: 'swap-silent' }],
    [
      'ends',
      { status: 'completed', order: 'finished', arrived: [eth('1', '10')], credited: ['1'] },
      { do: 'end', incident: undefined },
    ],
    [
      'credits nothing twice',
      { status: 'completed', order: 'finished', arrived: [eth('1', '10'), eth('2', '10')], credited: ['1'] },
      { do: 'end', incident: 'swap-surplus' },
    ],
    [
      'stays completed',
      { status: 'completed', order: 'failed', arrived: [eth('1', '10')], credited: ['1'] },
      { do: 'end', incident: 'swap-contradiction' },
    ],
    [
      'misses what a reorganisation took',
      { status: 'completed', credited: ['1'] },
      { do: 'wait', incident: 'swap-reorged' },
    ],
    [
      'stays failed',
      { status: 'failed', order: 'failed', arrived: [eth('1', '10')] },
      { do: 'end', incident: 'swap-contradiction' },
    ],
    ['waits for its deposit to come back', { status: 'failed', order: 'refunded' }, { do: 'wait' }],
    [
      'has it back',
      { status: 'failed', order: 'refunded', returned: [eth('1', '1')] },
      { do: 'end', incident: undefined },
    ],
    [
      'tells that it does not come back',
      { status: 'failed', order: 'failed', isSilent: true },
      { do: 'end', incident: 'swap-silent' },
    ],
    ['ends where nothing was sent', { status: 'failed', order: 'refused', funding: 'none' }, { do: 'end' }],
  ];
  it.each(rows)('%s', (_, over, step) => {
    const { incident, ...wanted } = step;
    const next = nextSwapStep(facts(over));
    expect(next).toMatchObject(wanted);
    expect(next.incident).toBe(incident);
  });

  it('never returns what may still leave, nor credits more than has come, nor less than all that it needs', () => {
    const fundings: SwapFunding[] = ['none', 'planned', 'signed', 'sent', 'lost'];
    const orders: Array<SwapFacts['order']> = [
      null,
      'waiting',
      'working',
      'finished',
      'failed',
      'refunded',
      'expired',
      'unknown',
      'refused',
      'worse',
    ];
    const arrivals = fc.array(
      fc.record({
        currency: fc.constantFrom('ETH', 'USDT_ERC20'),
        amount: fc.integer({ min: 1, max: 15 }).map(String),
      }),
      { maxLength: 4 },
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...fundings),
        fc.constantFrom(...orders),
        arrivals,
        fc.boolean(),
        fc.boolean(),
        fc.boolean(),
        (funding, order, some, isPaidOut, isComing, isOverdue) => {
          const arrived = some.map((one, at) => ({ id: String(at), ...one }));
          const given = facts({ funding, order, arrived, isPaidOut, isComing, isOverdue });
          const step = nextSwapStep(given);
          if (step.do === 'fail') {
            expect(['planned', 'signed']).not.toContain(funding);
            expect(isComing).toBe(false);
            const right = arrived.filter((one) => one.currency === 'ETH');
            expect(compare(add('0', ...right.map((one) => one.amount)), given.minimum)).toBeLessThan(0);
          }
          if (step.do === 'complete') {
            const credited = arrived.filter((one) => step.depositIds.includes(one.id));
            expect(add('0', ...credited.map((one) => one.amount))).toBe(step.amount);
            expect(credited.every((one) => one.currency === 'ETH')).toBe(true);
            // Less than was accepted: only once the payout is here, and nothing more is coming.
            const isAll = order === 'finished' && isPaidOut && !isComing;
            expect(isAll || compare(step.amount, given.minimum) >= 0).toBe(true);
            // What ends credits nobody a second time.
            const after = nextSwapStep({ ...given, status: 'completed', credited: step.depositIds });
            expect(['end', 'wait']).toContain(after.do);
          }
          if (step.do === 'fund') expect(order).toBe('waiting');
          if (given.status === 'processing') expect(step.do).not.toBe('end');
        },
      ),
      { numRuns: 5000 },
    );
  });
});

describe('the least output', () => {
  // 0.5 % of the output and 1.2 for the payout.
  const output = (net: string): string => subtract(times(net, '1.99', 18, 'down'), '1.2');
  const rate: SwapRate = {
    min: '10',
    max: null,
    low: { fromAmount: '10', toAmount: output('10') },
    high: { fromAmount: '5000', toAmount: output('5000') },
    seconds: null,
  };

  it('is what the provider would give, less the band, rounded down', () => {
    expect(leastOutput(rate, '100', 6)).toBe('196.811');
    expect(leastOutput(rate, '123.456789', 6)).toBe(fit(times(output('123.456789'), '0.995', 18, 'down'), 6, 'down'));
    expect(leastOutput(rate, '0.1', 6)).toBeNull();
    expect(leastOutput({ ...rate, high: rate.low }, '100', 6)).toBeNull();
  });

  it('never promises more than the provider gives', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 10_000_000n, max: 5_000_000_000n }), (units) => {
        const net = divide(units.toString(), '1000000', 6, 'down');
        const least = leastOutput(rate, net, 6)!;
        expect(isPositive(least)).toBe(true);
        expect(compare(least, output(net))).toBeLessThan(0);
      }),
    );
  });
});
