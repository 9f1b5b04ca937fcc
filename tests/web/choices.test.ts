import { choiceForms, type Choice } from '../../web/checkout/choices';
import { catalogues } from '../../web/checkout/texts';
import { de } from '../../web/checkout/texts/de';
import { en } from '../../web/checkout/texts/en';
import { anInvoice, choices, invoices, manyChoices } from './invoices';

/** What an invoice can be paid in: coins, then networks. */

const formsOf = (offered: readonly Choice[], texts = en, invoice = invoices.choose): string =>
  choiceForms(texts, invoice, offered).text;
/** What is read of each part of the list. */
const read = (text: string): string =>
  text
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
const partOf = (text: string, id: string): string => new RegExp(`<li id="${id}">([^]*?)</li>`).exec(text)![1]!;
const idsIn = (text: string): string[] => [...text.matchAll(/<li id="([\w-]+)"/g)].map(([, id]) => id!);

describe('the choice of a coin', () => {
  it('lists each coin once, those that can be paid with first', () => {
    const coins = idsIn(formsOf(manyChoices)).filter((id) => id.startsWith('coin-'));
    expect(coins).toEqual(['BTC', 'ETH', 'USDT', 'USDC', 'LTC', 'BNB', 'POL'].map((asset) => `coin-${asset}`));
  });

  it('is one step where one network carries the coin: amount, network, fee and time are on its button', () => {
    const text = partOf(formsOf(manyChoices), 'coin-USDT');
    expect(text).toContain('name="currency" value="USDT_ERC20"');
    expect(text).not.toContain('<details');
    expect(read(text)).toBe('Tether USD 1264.5 USDT on Ethereum · fee about $0.40 · arrives in about 2 minutes');
  });

  it('opens to its networks where several carry it, the cheapest first, without a script', () => {
    const text = formsOf(manyChoices);
    expect(text.match(/<details name="coin">/g)).toHaveLength(2);
    const [summary] = /<summary[^]*?<\/summary>/.exec(text.slice(text.indexOf('id="coin-USDC"')))!;
    expect(read(summary)).toBe('USD Coin 1264.5 USDC Polygon PoS, Base, Arbitrum One +1 · fee under $0.01');
    const networks = idsIn(text).filter((id) => id.startsWith('choice-USDC'));
    expect(networks).toEqual(['POLYGON', 'BASE', 'ARBITRUM', 'ERC20', 'OPTIMISM'].map((one) => `choice-USDC_${one}`));
    const cheapest = read(partOf(text, 'choice-USDC_POLYGON'));
    expect(cheapest).toBe('Polygon PoS fee under $0.01 arrives in about 4 minutes · Lowest fee');
    expect(text.match(/Lowest fee/g)).toHaveLength(2);
  });

  it('says of a network that it is late, or off, and lets nobody choose one that is off', () => {
    const text = formsOf(manyChoices);
    const late = partOf(text, 'choice-USDC_BASE');
    expect(read(late)).toMatch(/Payments on this network are noticed late at the moment$/);
    expect(late).not.toContain('disabled');
    const off = partOf(text, 'choice-USDC_OPTIMISM');
    expect(read(off)).toBe('OP Mainnet This network is not in use at the moment');
    expect(off).toMatch(/<button class="choice" disabled>/);
    expect(read(partOf(text, 'coin-POL'))).toBe('POL on Polygon PoS · Not available right now');
  });

  it('goes straight to the networks of the only coin', () => {
    const usdc = manyChoices.filter(({ asset }) => asset === 'USDC');
    const text = formsOf(usdc);
    expect(text).not.toContain('<details');
    expect(idsIn(text)).toHaveLength(usdc.length);
    expect(text).toMatch(/<h2[^>]*>[^]*USD Coin<\/h2>/);
    expect(idsIn(formsOf([usdc[0]!]))).toEqual(['coin-USDC']);
  });

  it('names no amount for a coin whose networks ask for different ones', () => {
    const [bitcoin, one, other] = manyChoices;
    const text = formsOf([bitcoin!, one!, { ...other!, amount: '0.4' }]);
    expect(read(/<summary[^]*?<\/summary>/.exec(text)![0])).toMatch(/^Ether ETH Arbitrum One, Base/);
    expect(read(partOf(text, 'choice-ETH_BASE'))).toMatch(/^Base fee under \$0.01 0.4 ETH · arrives in/);
  });

  it('says why none of the networks of a coin can be chosen', () => {
    const none = manyChoices
      .filter(({ asset }) => asset === 'ETH')
      .map((one) => ({ ...one, amount: null, available: false, reason: 'BELOW_MINIMUM' }));
    const text = formsOf([...none, choices[0]!]);
    expect(idsIn(text)[0]).toBe('coin-BTC');
    expect(read(/<summary[^]*?<\/summary>/.exec(text)![0])).toBe(
      'Ether The amount is below the minimum of this network',
    );
    expect(text).not.toContain('Lowest fee');
  });
});

describe('the fee of a network', () => {
  const feeIn = (payerFeeFiat: number | null, fiatCurrency: string, texts = en): string =>
    read(
      partOf(
        formsOf([{ ...choices[0]!, payerFeeFiat }], texts, anInvoice({ fiatCurrency, status: 'AWAITING_CURRENCY' })),
        'coin-BTC',
      ),
    ).replaceAll('\u00a0', ' ');

  it('is told in the money of the invoice, and never as nothing', () => {
    expect(feeIn(0.01, 'USD')).toContain('fee about $0.01');
    expect(feeIn(0.0099, 'USD')).toContain('fee under $0.01');
    expect(feeIn(0.4, 'JPY')).toContain('fee under ¥1');
    expect(feeIn(12.345, 'EUR', de)).toContain('Gebühr etwa 12,35 €');
  });

  it('is left out where it is not known', () => {
    expect(feeIn(null, 'USD')).toContain('on Bitcoin · arrives in about 20 minutes');
    expect(feeIn(null, 'USD')).not.toContain('· fee');
  });

  it.each(catalogues.map((t) => [t.language, t] as const))('%s: every word is there', (_, t) =>
    expect(read(formsOf(manyChoices, t))).not.toMatch(/\{\w+\}|undefined|NaN/),
  );
});
