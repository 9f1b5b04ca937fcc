import fc from 'fast-check';
import { assetOf } from '../../domain/chains/assets';
import { add, compare, fromUnits, isPositive, subtract, toUnits } from '../../domain/money';
import { splitPaid } from '../../domain/pricing/quote';
import { evmOf } from '../../domain/chains/costs';
import { bumpedPrice } from '../../domain/txmanager/fee-limits';
import { feeIn, planSweep, type SweepInput } from '../../domain/sweeps/sweep';

const input = (over: Partial<SweepInput>): SweepInput => ({
  currency: 'ETH',
  sources: [{ address: 'deposit-1', depositIds: ['1'], amount: '1' }],
  custody: 'platform',
  settlementAddress: 'settlement',
  feeAddress: 'fee',
  gasAddress: 'gas',
  feeBps: 40,
  networkFee: '0.001',
  unitPrice: '20000000000',
  nativeRate: '1',
  ...over,
});

describe('planning a sweep', () => {
  it('empties a native deposit to the settlement address', () => {
    expect(planSweep(input({}))).toEqual([
      {
        kind: 'sweep',
        currency: 'ETH',
        from: 'deposit-1',
        outputs: [{ address: 'settlement', units: null }],
        depositIds: ['1'],
        maxUnitPrice: '80000000000',
        feeBudget: '2100000000000000',
      },
    ]);
  });

  it('spends all coins of a payment in one transaction', () => {
    const sources = [
      { address: 'a', depositIds: ['1', '2'], amount: '0.01' },
      { address: 'b', depositIds: ['3'], amount: '0.02' },
    ];
    const plan = planSweep(input({ currency: 'BTC', sources, unitPrice: '5', networkFee: '0.00001' }));
    expect(plan).toHaveLength(1);
    expect(plan?.[0]?.depositIds).toEqual(['1', '2', '3']);
  });

  it('tops gas up before it moves a token, with room for bumps', () => {
    const plan = planSweep(
      input({
        currency: 'USDT_ERC20',
        sources: [{ address: 'd', depositIds: ['7'], amount: '25.13' }],
        nativeRate: '3200',
        networkFee: '3',
      }),
    );
    expect(plan?.map((intent) => [intent.kind, intent.currency, intent.from])).toEqual([
      ['gas', 'ETH', 'gas'],
      ['sweep', 'USDT_ERC20', 'd'],
    ]);
    expect(plan?.[0]?.outputs).toEqual([
      { address: 'd', units: (evmOf('ETH').work.token * 40_000_000_000n).toString() },
    ]);
    expect(plan?.[1]?.outputs).toEqual([{ address: 'settlement', units: '25130000' }]);
    expect(plan?.[1]?.maxUnitPrice).toBe('40000000000');
  });

  it('waits where moving costs more than it brings', () => {
    expect(planSweep(input({ sources: [{ address: 'd', depositIds: ['1'], amount: '0.0004' }] }))).toBeNull();
    expect(
      planSweep(
        input({ currency: 'BTC', unitPrice: '500', sources: [{ address: 'd', depositIds: ['1'], amount: '0.0005' }] }),
      ),
    ).toBeNull();
  });

  it('pays the merchant the settled net and keeps the fee, with custody external', () => {
    for (const [currency, amount, nativeRate, networkFee] of [
      ['ETH', '0.5', '1', '0.002'],
      ['USDC_ERC20', '100', '3200', '6'],
    ] as const) {
      const plan = planSweep(
        input({
          currency,
          custody: 'external',
          sources: [{ address: 'd', depositIds: ['1'], amount }],
          nativeRate,
          networkFee,
        }),
      );
      const net = splitPaid(amount, currency, 40, networkFee).net;
      const toMerchant = plan!.flatMap((intent) => intent.outputs).filter((output) => output.address === 'settlement');
      expect(toMerchant.map((output) => fromUnits(BigInt(output.units!), assetOf(currency).decimals))).toEqual([net]);
      expect(plan!.flatMap((intent) => intent.outputs).some((output) => output.address === 'fee')).toBe(true);
    }
  });

  describe('of tokens on TRON with custody external', () => {
    // At 100 sun and 0.3 USDT for a TRX a transfer takes 2.43 USDT, and the provision is 2.88.
    const plan = (amount: string, settlementGas?: bigint) =>
      planSweep(
        input({
          ...{ currency: 'USDT_TRC20', custody: 'external', unitPrice: '100', nativeRate: '0.3', networkFee: '2.88' },
          sources: [{ address: 'd', depositIds: ['1'], amount }],
          ...(settlementGas === undefined ? {} : { settlementGas }),
        }),
      );
    const paidTo = (address: string, made: ReturnType<typeof plan>): string[] =>
      made!.flatMap(({ outputs }) =>
        outputs.filter((one) => one.address === address).map(({ units }) => fromUnits(BigInt(units!), 6)),
      );

    it('the net bears what both transfers take above the provision', () => {
      const { net } = splitPaid('100', 'USDT_TRC20', 40, '2.88');
      for (const [gas, above] of [
        [undefined, '2.43'],
        [64_000n, '1.92'],
        [134_000n, '4.02'],
      ] as const) {
        const made = plan('100', gas);
        expect(paidTo('settlement', made)).toEqual([subtract(net, above)]);
        expect(paidTo('fee', made)).toEqual([subtract('100', subtract(net, above))]);
      }
    });

    it('waits where nothing of the net would arrive', () => {
      expect(plan('5.3')).toBeNull();
      expect(plan('5.4')).not.toBeNull();
    });
  });

  it('leaves our part of a token where moving it costs more than it is', () => {
    const amounts = (networkFee: string) =>
      planSweep(
        input({
          ...{ currency: 'USDC_ERC20', custody: 'external', nativeRate: '3200', networkFee },
          sources: [{ address: 'd', depositIds: ['1'], amount: '100' }],
        }),
      )!.flatMap(({ kind, outputs }) => (kind === 'gas' ? [] : outputs.map(({ address }) => address)));
    expect(amounts('9')).toEqual(['settlement', 'fee']);
    expect(amounts('1')).toEqual(['settlement']);
  });

  describe('A5: of native coins with custody external', () => {
    // 0.00042 for each of two transfers; 0.4 % and the provision are ours.
    const plan = (amount: string, networkFee: string) =>
      planSweep(input({ custody: 'external', sources: [{ address: 'd', depositIds: ['1'], amount }], networkFee }));

    it('brings the merchant the net also where our part would not pay for a transfer of its own', () => {
      expect(plan('0.05', '0.00042')).toMatchObject([
        { kind: 'sweep', outputs: [{ address: 'settlement', units: '49380000000000000' }] },
      ]);
    });

    it('moves our part from the amount on that pays for both', () => {
      expect(plan('0.12', '0.00042')!.map(({ outputs }) => outputs[0]!.address)).toEqual(['settlement', 'fee']);
    });

    it('waits where the net itself would not pay for its transfer', () => {
      expect(plan('0.05', '0.0002')).toBeNull();
    });

    it('moves all of it to us where nothing of it is the merchant’s, and never plans nothing', () => {
      expect(plan('0.0005', '0.0006')!.map(({ outputs }) => outputs)).toEqual([[{ address: 'fee', units: null }]]);
      expect(plan('0.0004', '0.0006')).toBeNull();
    });

    it('never leaves more than the transfer of it would cost', () => {
      const [one, both] = ['0.00042', '0.00084'];
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 1, max: 300 }), (amount, provision) => {
          const [paid, fee] = [`${amount / 1000}`, (provision / 100_000).toFixed(5)];
          const outputs = plan(paid, fee)?.flatMap((intent) => intent.outputs);
          const net = splitPaid(paid, 'ETH', 40, fee).net;
          if (!outputs) return;
          const [settlement, rest] = isPositive(net) ? outputs : [undefined, ...outputs];
          expect(settlement?.units ?? '0').toBe(toUnits(net, 18).toString());
          expect(rest !== undefined).toBe(compare(subtract(paid, net), isPositive(net) ? both : one) > 0);
          expect(outputs.length).toBeGreaterThan(0);
        }),
      );
    });
  });

  it('never plans to send more than came', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('ETH', 'USDT_ERC20', 'USDC_ERC20'),
        fc.array(fc.bigInt(1_000_000n, 10_000_000_000n), { minLength: 1, maxLength: 4 }),
        fc.constantFrom<'platform' | 'external'>('platform', 'external'),
        fc.integer({ min: 1, max: 300 }),
        (currency, units, custody, gwei) => {
          const { decimals } = assetOf(currency);
          const scale = currency === 'ETH' ? 10n ** 9n : 1n;
          const sources = units.map((unit, index) => ({
            address: `d${index}`,
            depositIds: [String(index)],
            amount: fromUnits(unit * scale, decimals),
          }));
          const plan = planSweep(
            input({
              currency,
              custody,
              sources,
              unitPrice: `${gwei}000000000`,
              nativeRate: currency === 'ETH' ? '1' : '3200',
              networkFee: currency === 'ETH' ? '0.003' : '9',
            }),
          );
          if (!plan) return;
          for (const source of sources) {
            const sent = plan
              .filter((intent) => intent.kind === 'sweep' && intent.from === source.address)
              .flatMap((intent) => intent.outputs)
              .map((output) => (output.units === null ? '0' : fromUnits(BigInt(output.units), decimals)));
            expect(compare(add('0', ...sent), source.amount)).toBeLessThanOrEqual(0);
          }
        },
      ),
    );
  });
});

describe('prices of attempts', () => {
  it('bumps by an eighth or more, and never below the price of today', () => {
    expect(bumpedPrice('8', '1')).toBe('9');
    expect(bumpedPrice('10', '1')).toBe('12');
    expect(bumpedPrice('10', '40')).toBe('40');
  });

  it('states a chain fee in the currency, rounded up', () => {
    expect(feeIn('ETH', 1n, '1')).toBe('0.000000000000000001');
    expect(feeIn('USDT_ERC20', 1n, '3200')).toBe('0.000001');
  });
});
