import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import { mailActivities } from '../../activities/mail/mail';
import { createCodecs } from '../../chains/codecs';
import { createMailer, type Mailer } from '../../commands/mail/mailer';
import { armFailPoints } from '../../db/fail-point';
import { waitingMail } from '../../db/mail/mail';
import { receiptMail, receiptLanguages } from '../../domain/mail/receipt-mail';
import { catalogues } from '../../web/checkout/texts';
import { paymentsAt } from '../activities/run-payment';
import { unguarded } from '../unguarded';
import { startCheckout } from './checkout-server';
import { caught, secretsKey, startHarness, type Harness, type Shop } from './harness';

/** The receipt that a payer asked for by mail: once, in their language, and shown to nobody. */

let h: Harness;
let shop: Shop;
let mailer: Mailer;
let checkout: Server;
let checkoutUrl: string;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1', CHECKOUT_URL: 'https://pay.example' });
  shop = await h.shop({ name: 'Tea & Co' });
  mailer = createMailer(h.api.deps.config);
  ({ server: checkout, url: checkoutUrl } = await startCheckout(h, 0));
  armFailPoints(h.db);
});
afterAll(async () => {
  mailer?.close();
  checkout?.close();
  await h?.stop();
});
beforeEach(() => h.db.query('DELETE FROM rate_limit'));

const newEmail = (): string => `payer-${randomBytes(6).toString('hex')}@example.com`;
async function anInvoice(body: object = {}) {
  const made = await h.call('POST', '/api/v1/payments', {
    key: shop.key,
    body: { amount: 40, currency: 'ETH', ...body },
  });
  const { paymentId, invoiceUrl, depositAddress, amount } = made.body;
  return { id: paymentId as string, slug: invoiceUrl.split('/').pop() as string, depositAddress, amount };
}
let callers = 0;
const leave = (slug: string, body: object) =>
  h.call('POST', `/invoice/${slug}/receipt-email`, {
    body,
    headers: { 'X-Forwarded-For': `10.3.2.${(callers += 1)}` },
  });
const { runPayment } = {
  runPayment: (id: string) => {
    const { config } = h.api.deps;
    return paymentsAt({ db: h.db, config, codecs: createCodecs(config.chain) }).runPayment(id);
  },
};
/** The whole price, confirmed by the chain. */
const pay = ({ id, depositAddress, amount }: Awaited<ReturnType<typeof anInvoice>>): Promise<unknown> =>
  h.db.query(
    `INSERT INTO deposit (network, tx_id, out_index, address, role, payment_id, currency, amount, stated_amount,
       is_dust, status, block_hash, height, first_seen_at, confirmed_at)
     VALUES ('ethereum', $1, 0, $2, 'deposit', $3, 'ETH', $4, $4, false, 'confirmed', '0xb', 90, clock_timestamp(),
       now())`,
    [randomBytes(32).toString('hex'), depositAddress, id, amount],
  );
const mailsTo = (email: string): Promise<Array<{ id: string; template: string }>> =>
  h.db.query('SELECT id, template FROM mail WHERE recipient = $1 ORDER BY id', [email]);
const requests = (mailId: string): Promise<unknown[]> =>
  h.db.query('SELECT FROM temporal_request WHERE workflow_id = $1', [`mail/${mailId}`]);

describe('B9: the receipt by e-mail', () => {
  it('is asked for once the payment is confirmed, with what was paid and for what', async () => {
    const invoice = await anInvoice({ merchantOrderId: 'A-9', description: 'Two cups' });
    const email = newEmail();
    expect((await leave(invoice.slug, { email: ` ${email.toUpperCase()}`.trim(), language: 'de' })).status).toBe(200);
    expect(await mailsTo(email)).toEqual([]);
    await pay(invoice);
    await runPayment(invoice.id);
    const [mail, ...more] = await mailsTo(email);
    expect([mail?.template, more]).toEqual(['receipt', []]);
    expect(await requests(mail!.id)).toHaveLength(1);
    const { subject, text } = (await waitingMail(h.db, secretsKey, mail!.id))!;
    expect(subject).toBe('Ihre Zahlung an Tea & Co');
    for (const part of [
      '40 USD',
      'Bestellung: A-9',
      'Wofür: Two cups',
      `Erhalten: ${invoice.amount} ETH`,
      `https://pay.example/i/${invoice.slug}?language=de`,
    ])
      expect(text).toContain(part);
  });

  it('is sent once, whatever fails on the way', async () => {
    const invoice = await anInvoice();
    const email = newEmail();
    await leave(invoice.slug, { email });
    await pay(invoice);
    await h.db.query(`INSERT INTO fail_point (name, action, remaining) VALUES ('move.afterCommit', 'throw', 2)
       ON CONFLICT (name) DO UPDATE SET action = 'throw', remaining = 2`);
    for (const _ of [1, 2]) await expect(runPayment(invoice.id)).rejects.toThrow('Fail point move.afterCommit');
    await runPayment(invoice.id);
    await runPayment(invoice.id);
    const mails = await mailsTo(email);
    expect(mails).toHaveLength(1);
    const { sendMail } = mailActivities({ db: h.db, config: h.api.deps.config, mailer });
    await sendMail(mails[0]!.id);
    await sendMail(mails[0]!.id);
    expect(await caught(h, email)).toHaveLength(1);
  });

  it('is not sent again where a reorganisation confirms the payment anew', async () => {
    const invoice = await anInvoice();
    const email = newEmail();
    await leave(invoice.slug, { email });
    await pay(invoice);
    await runPayment(invoice.id);
    await unguarded(h.db, (tx) =>
      tx.query(`UPDATE payment SET status = 'CONFIRMING', state_version = state_version + 1 WHERE id = $1`, [
        invoice.id,
      ]),
    );
    await runPayment(invoice.id);
    const [{ n }] = await h.db.query(
      `SELECT count(*)::int AS n FROM payment_event WHERE payment_id = $1 AND to_status = 'CONFIRMED'`,
      [invoice.id],
    );
    expect([n, (await mailsTo(email)).length]).toEqual([2, 1]);
  });

  it('goes at once where the payment is paid already, and once for each address', async () => {
    const invoice = await anInvoice();
    await pay(invoice);
    await runPayment(invoice.id);
    const email = newEmail();
    for (const _ of [1, 2, 3]) expect((await leave(invoice.slug, { email })).status).toBe(200);
    expect(await mailsTo(email)).toHaveLength(1);
    const many = await Promise.all(Array.from({ length: 8 }, () => leave(invoice.slug, { email })));
    expect(new Set(many.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await mailsTo(email)).toHaveLength(1);
  });

  it('is no way to write to a list of strangers', async () => {
    const { slug } = await anInvoice();
    const answers = [];
    for (let n = 0; n < 5; n += 1) answers.push((await leave(slug, { email: newEmail() })).status);
    expect(answers).toEqual([200, 200, 200, 409, 409]);
  });

  it('is never asked for of a payment that ended otherwise', async () => {
    const { slug } = await anInvoice();
    const email = newEmail();
    await leave(slug, { email });
    await h.call('POST', `/invoice/${slug}/cancel`, { body: { confirm: true } });
    const answer = await leave(slug, { email: newEmail() });
    expect(answer.status).toBe(409);
    expect(answer.body.error).toBe('No receipt of this invoice can be sent to this address');
    expect(await mailsTo(email)).toEqual([]);
  });

  it.each<[string, object]>([
    ['no address', {}],
    ['two addresses', { email: 'a@example.com, b@example.com' }],
    ['a second header', { email: 'a@example.com\r\nBcc: b@example.com' }],
    ['a language that is none', { email: 'a@example.com', language: 'xx' }],
  ])('refuses %s', async (_, body) => {
    const { slug } = await anInvoice();
    const answer = await leave(slug, body);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
  });

  it('shows the address to nobody: no payer, no merchant, no event, no page', async () => {
    const invoice = await anInvoice();
    const email = newEmail();
    const form = await fetch(`${checkoutUrl}/i/${invoice.slug}/receipt-email`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ email }).toString(),
      redirect: 'manual',
    });
    expect([form.status, form.headers.get('location')]).toEqual([303, `/i/${invoice.slug}?receipt`]);
    await pay(invoice);
    await runPayment(invoice.id);
    expect(await mailsTo(email)).toHaveLength(1);
    const shown = [
      await (await fetch(`${checkoutUrl}/i/${invoice.slug}?receipt`)).text(),
      (await h.call('GET', `/getInvoiceStatus?invoiceId=${invoice.slug}`)).text,
      (await h.call('GET', `/api/v1/payments/${invoice.id}`, { key: shop.key })).text,
      (await h.call('GET', `/api/v1/payments/${invoice.id}/timeline`, { key: shop.key })).text,
      (await h.call('GET', '/api/v1/events?limit=100', { key: shop.key })).text,
      JSON.stringify(await h.db.query('SELECT * FROM payment WHERE id = $1', [invoice.id])),
      JSON.stringify(await h.db.query('SELECT * FROM temporal_request')),
      h.logs.join(''),
    ];
    for (const text of shown) expect(text).not.toContain(email);
    expect(shown[0]).toContain('The receipt goes to the address that you left');
  });

  it('is written in each language of the pages', () => {
    expect([...receiptLanguages].sort()).toEqual(catalogues.map(({ language }) => language).sort());
    const payment = {
      slug: 'k7m2p9q4r8s3t6v1w5x0',
      fiat_amount: '40.000000000000000000',
      fiat_currency: 'USD',
      amount_paid: '0.0125',
      currency: 'ETH',
      network: 'ethereum',
      merchant_order_id: 'A\r\nBcc: x\u2028y',
      description: null,
    };
    const about = {
      payment,
      merchantName: 'Tea $& {price}\nCo',
      branding: { supportEmail: 'help@tea.example', supportUrl: null },
      checkoutUrl: 'https://pay.example',
    };
    const texts = receiptLanguages.map((language) => receiptMail('a@example.com', language, about));
    expect(new Set(texts.map(({ subject }) => subject)).size).toBe(receiptLanguages.length);
    for (const { subject, text } of texts) {
      expect(subject).toContain('Tea $& {price} Co');
      expect(text).toContain('40 USD');
      expect(text).toContain('A Bcc: x y');
      expect(text).toContain('help@tea.example');
      expect(text).not.toContain('{merchant}');
    }
  });
});
