import type { Command } from 'commander';
import type { Payment, PaymentStatus } from '@crypto-payment-service/sdk';
import { json, price, wholeNumber } from './arguments.js';
import type { Output } from './output.js';
import { access } from './settings.js';

/** `payments create|get|list|cancel`. */

type CreateOptions = Readonly<{
  currency?: string;
  orderId?: string;
  description?: string;
  metadata?: unknown;
  expiresIn?: number;
  idempotencyKey?: string;
}>;

export function addPayments(program: Command, output: Output): void {
  const payments = program.command('payments').description('create, show, list and cancel payments');
  payments
    .command('create')
    .description('create a payment')
    .argument('<amount>', 'price in your display currency', price)
    .option('--currency <ticker>', 'what is paid in; the payer chooses where it is left out')
    .option('--order-id <id>', 'your id of the order')
    .option('--description <text>', 'what it is for')
    .option('--metadata <json>', 'anything, kept byte for byte', json)
    .option('--expires-in <seconds>', 'how long it can be paid', wholeNumber)
    .option('--idempotency-key <key>', 'the same key finds the same payment')
    .action(async (amount: number, { orderId: merchantOrderId, idempotencyKey, ...more }: CreateOptions) => {
      const { client } = access();
      const made = await client.payments.create({ amount, merchantOrderId, ...more }, { idempotencyKey });
      const asked = made.depositAddress
        ? `${made.amount} ${made.currency} to ${made.depositAddress}`
        : 'no currency yet';
      output.result(made, `${made.paymentId}  ${made.status}  ${asked}  ${made.invoiceUrl}`);
    });
  payments
    .command('get')
    .description('show a payment')
    .argument('<payment id>')
    .action(async (id: string) => {
      const payment = await access().client.payments.get(id);
      output.result(payment, shown(payment, output));
    });
  payments
    .command('list')
    .description('list payments, newest first')
    .option('--status <status>', 'with this status: WAITING, SETTLED …')
    .option('--limit <number>', 'how many', wholeNumber, 20)
    .action(async ({ status, limit }: { status?: string; limit: number }) => {
      const { items } = await access().client.payments.list({ status: status?.toUpperCase() as PaymentStatus, limit });
      const rows = items.map((one) => [
        ...[one._id, one.status, `${one.fiatAmount} ${one.fiatCurrency}`, one.currency ?? '', one.createdAt],
        one.merchantOrderId ?? '',
      ]);
      output.result(items, output.table([['id', 'status', 'price', 'currency', 'created', 'order'], ...rows]));
    });
  payments
    .command('cancel')
    .description('cancel a payment that nobody has paid')
    .argument('<payment id>')
    .action(async (id: string) => {
      const { status } = await access().client.payments.cancel(id);
      output.result({ paymentId: id, status }, `${id}  ${status}`);
    });
}

function shown(payment: Payment, output: Output): string {
  const { currency = '', exceptions } = payment;
  const lines: Array<readonly [string, string | undefined]> = [
    ['id', payment._id],
    ['status', [payment.status, ...exceptions].join(' ')],
    ['price', `${payment.fiatAmount} ${payment.fiatCurrency}`],
    ['amount', payment.amount === undefined ? undefined : `${payment.amount} ${currency}`],
    ['paid', `${payment.amountPaid} ${currency}`.trim()],
    ['address', payment.publicKey],
    ['order', payment.merchantOrderId],
    ['expires', payment.expiresAt],
    ['transactions', payment.txIds.join(' ') || undefined],
  ];
  return output.table(lines.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}
