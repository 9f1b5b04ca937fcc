import { noBranding } from '../../domain/branding/branding';
import { assetOf, networks } from '../../domain/chains/assets';
import { coinName, usualSeconds } from '../../domain/chains/coins';
import type { InvoiceView } from '../../domain/payments/payment-view';
import type { Choice } from '../../web/checkout/choices';

/** Invoices in every state, as the API shows them to payers. */

const now = '2026-01-05T10:00:00.000Z';
export const inSeconds = (seconds: number): string => new Date(Date.parse(now) + seconds * 1000).toISOString();
export const txOf = (digit: string): string => `0x${digit.repeat(64)}`;
const address = '0x52908400098527886E0F7030069857D2E4169EE7';
export const slug = 'k7m2p9q4r8s3t6v1w5x0';

/** An invoice of 64 dollars, to be paid in USDT on Ethereum. */
export function anInvoice(patch: Partial<InvoiceView> = {}): InvoiceView {
  return {
    invoiceId: slug,
    livemode: true,
    status: 'WAITING',
    exceptions: [],
    stateVersion: 1,
    serverTime: now,
    merchantName: 'Teahouse',
    merchantOrderId: 'A-1047',
    description: null,
    branding: noBranding,
    thankYouText: null,
    fiatAmount: 1264.5,
    fiatCurrency: 'USD',
    currency: 'USDT_ERC20',
    network: 'ethereum',
    explorerTxUrls: { bitcoin: 'https://mempool.space/tx/{txId}', ethereum: 'https://etherscan.io/tx/{txId}' },
    exchangeRate: '1.0005',
    amount: '1263.868066',
    amountPaid: '0',
    amountRemaining: '1263.868066',
    amountSeen: '0',
    seenOther: [],
    paymentSeen: false,
    overpaidAmount: '0',
    depositAddress: address,
    destinationTag: null,
    refundDestinationTag: null,
    paymentUri: `ethereum:0xdAC17F958D2ee523a2206206994597C13D831ec7@1/transfer?address=${address}&uint256=1263868066`,
    createdAt: inSeconds(-60),
    paidAt: null,
    refundedAmount: '0',
    expiresAt: inSeconds(7200),
    quoteExpiresAt: inSeconds(629),
    confirmations: 0,
    requiredConfirmations: 12,
    txIds: [],
    receivedOther: [],
    crossChainAutoAcceptAt: null,
    crossChainRejectAt: null,
    cancellable: true,
    redirectUrl: null,
    underpaidRefund: null,
    networkDelayed: false,
    refundAddress: null,
    refundContested: false,
    refundAddressLocked: false,
    ...patch,
  };
}

const unpriced: Partial<InvoiceView> = {
  currency: null,
  network: null,
  exchangeRate: null,
  amount: null,
  amountRemaining: null,
  depositAddress: null,
  paymentUri: null,
  expiresAt: null,
  quoteExpiresAt: null,
  requiredConfirmations: null,
};
/** Money has come, so nothing is asked for and nothing can be left any more. */
const came: Partial<InvoiceView> = {
  paymentUri: null,
  cancellable: false,
  refundAddressLocked: true,
  txIds: [txOf('a')],
  amountSeen: '1263.868066',
};
const paid: Partial<InvoiceView> = { ...came, amountPaid: '1263.868066', amountRemaining: '0', confirmations: 12 };
const part: Partial<InvoiceView> = {
  cancellable: false,
  refundAddressLocked: true,
  txIds: [txOf('a')],
  amountPaid: '1000',
  amountSeen: '1000',
  amountRemaining: '263.868066',
};
const ended: Partial<InvoiceView> = { paymentUri: null, cancellable: false, refundAddressLocked: true };
const usdc = { currency: 'USDC_ERC20', amount: '70', txId: txOf('b'), fiatValue: '69.98' };
const done: Partial<InvoiceView> = {
  paidAt: inSeconds(-30),
  redirectUrl: 'https://shop.example/thanks?status=paid',
};

/** What a merchant can show of themselves; the colour is too light for text. */
export const branding = {
  supportEmail: 'help@teahouse.example',
  supportUrl: 'https://teahouse.example/help',
  termsUrl: 'https://teahouse.example/terms',
  accentColor: '#ffd166',
  logoUrl: `/logos/${'a'.repeat(24)}`,
};

/** As long as invoices are that nodes write. */
export const lightningInvoice = `lnbc19719780p1p${'q9s8d7f6x3vw0hj4k2'.repeat(18)}`;

/** By name: what a payer can meet. */
export const invoices = {
  choose: anInvoice({ ...unpriced, status: 'AWAITING_CURRENCY' }),
  waiting: anInvoice(),
  branded: anInvoice({ description: 'Darjeeling, 250 g, and a cup', branding }),
  bitcoin: anInvoice({
    currency: 'BTC',
    network: 'bitcoin',
    exchangeRate: '64123.45',
    amount: '0.01971978',
    amountRemaining: '0.01971978',
    depositAddress: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    paymentUri: 'bitcoin:bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4?amount=0.01971978&label=Teahouse&message=A-1047',
    requiredConfirmations: 2,
  }),
  lightning: anInvoice({
    ...{ currency: 'BTC_LN', network: 'bitcoin', exchangeRate: '64123.45', requiredConfirmations: 0 },
    ...{ amount: '0.01971978', amountRemaining: '0.01971978' },
    ...{ depositAddress: lightningInvoice, paymentUri: `lightning:${lightningInvoice}` },
  }),
  'last-minutes': anInvoice({ expiresAt: inSeconds(250), quoteExpiresAt: inSeconds(250) }),
  'price-over': anInvoice({ quoteExpiresAt: inSeconds(-1) }),
  'time-over': anInvoice({ quoteExpiresAt: inSeconds(-1), expiresAt: inSeconds(-1) }),
  delayed: anInvoice({ networkDelayed: true }),
  seen: anInvoice({ ...came, paymentSeen: true, confirmations: 3 }),
  'seen-part': anInvoice({ ...came, paymentSeen: true, amountSeen: '1000' }),
  'seen-other': anInvoice({
    ...came,
    amountSeen: '0',
    paymentSeen: true,
    txIds: [],
    seenOther: [{ currency: 'USDC_ERC20', amount: '70', txId: txOf('b') }],
  }),
  part: anInvoice({ ...part, status: 'PARTIALLY_PAID' }),
  'part-price-over': anInvoice({ ...part, status: 'PARTIALLY_PAID', quoteExpiresAt: inSeconds(-1) }),
  other: anInvoice({
    ...ended,
    status: 'CROSS_CHAIN_PENDING',
    txIds: [usdc.txId],
    receivedOther: [usdc],
    crossChainRejectAt: inSeconds(86_400),
  }),
  'other-accepted': anInvoice({
    ...ended,
    status: 'CROSS_CHAIN_PENDING',
    txIds: [usdc.txId],
    receivedOther: [usdc],
    crossChainAutoAcceptAt: inSeconds(3600),
  }),
  confirming: anInvoice({ ...paid, status: 'CONFIRMING', confirmations: 5 }),
  confirmed: anInvoice({ ...paid, ...done, status: 'CONFIRMED' }),
  settled: anInvoice({ ...paid, ...done, status: 'SETTLED' }),
  'settled-branded': anInvoice({
    ...paid,
    ...done,
    status: 'SETTLED',
    description: 'Darjeeling, 250 g, and a cup',
    branding: { ...branding, supportUrl: null },
    thankYouText: 'Thank you!\nYour tea leaves us tomorrow.',
  }),
  refunded: anInvoice({ ...paid, ...done, status: 'SETTLED', refundedAmount: '63.868066' }),
  overpaid: anInvoice({
    ...paid,
    ...done,
    status: 'SETTLED',
    amountPaid: '1300',
    overpaidAmount: '36.131934',
    exceptions: ['overpaid'],
  }),
  expired: anInvoice({ ...ended, status: 'EXPIRED', expiresAt: inSeconds(-60), quoteExpiresAt: inSeconds(-60) }),
  cancelled: anInvoice({ ...ended, status: 'CANCELLED' }),
  failed: anInvoice({ ...part, ...ended, status: 'FAILED', exceptions: ['underpaid'] }),
  'failed-refund': anInvoice({
    ...part,
    ...ended,
    status: 'FAILED',
    exceptions: ['underpaid'],
    underpaidRefund: 'broadcast',
    refundAddress: address,
  }),
} satisfies Record<string, InvoiceView>;

const choiceOf = (
  currency: string,
  amount: string | null,
  payerFeeFiat: number | null,
  patch: Partial<Choice> = {},
): Choice => {
  const asset = assetOf(currency);
  const network = networks[asset.network];
  return {
    ...{ currency, asset: asset.asset, coinName: coinName(asset), networkName: network.name },
    ...{ amount, payerFeeFiat, available: amount !== null, status: 'active' as const },
    estimatedSeconds: usualSeconds(network.id, network.confirmations),
    ...(amount === null ? { reason: 'BELOW_MINIMUM' } : {}),
    ...patch,
  };
};
export const choices: readonly Choice[] = [
  choiceOf('BTC', '0.01971978', 0.42),
  choiceOf('ETH', '0.39516', 0.13),
  choiceOf('USDT_ERC20', null, 0.4),
  choiceOf('USDC_ERC20', '1264.5', 0.4, { estimatedSeconds: 20 }),
];

const usdcAmount = '1264.5';
/** Every asset of the registry, as the API sorts them; one network is late, and one is off. */
export const manyChoices: readonly Choice[] = [
  choiceOf('BTC', '0.01971978', 0.42),
  choiceOf('ETH_ARBITRUM', '0.39516', 0.004),
  choiceOf('ETH_BASE', '0.39516', 0.006, { status: 'delayed' }),
  choiceOf('ETH_OPTIMISM', '0.39516', 0.007),
  choiceOf('ETH', '0.39516', 0.13),
  choiceOf('USDT_ERC20', usdcAmount, 0.4),
  choiceOf('USDC_POLYGON', usdcAmount, 0.0021),
  choiceOf('USDC_BASE', usdcAmount, 0.013, { status: 'delayed' }),
  choiceOf('USDC_ARBITRUM', usdcAmount, 0.021),
  choiceOf('USDC_ERC20', usdcAmount, 0.4),
  choiceOf('USDC_OPTIMISM', null, null, { status: 'disabled', reason: 'TEMPORARILY_UNAVAILABLE' }),
  choiceOf('LTC', '15.80625', 0.0012),
  choiceOf('POL', null, null, { reason: 'TEMPORARILY_UNAVAILABLE' }),
  choiceOf('BNB', '2.1075', 0.03),
];
