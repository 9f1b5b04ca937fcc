import { randomBytes } from 'node:crypto';
import { generate } from 'otplib';
import type { CaughtMail } from '../../../sandbox/parts/mail';
import type { Dashboard, Person } from '../person';
import { password } from '../person';
import { freeTexts } from './fields';
import { hostileLogo, rounds, textOf } from './texts';

/** Puts a hostile text into every field that takes one, through the API, and keeps which. */
export class Planting {
  /** By field. */
  readonly texts = new Map<string, string[]>();
  /** What the path of a page names, and pages beside the dashboard. */
  readonly ids: Record<string, string> = {};
  readonly payments: string[] = [];
  /** Payments of donors, in the order of their texts. */
  readonly donations: string[] = [];
  readonly links: string[] = [];

  constructor(
    private readonly dashboard: Dashboard,
    private readonly ann: Person,
  ) {}

  text(field: string, round = 0): string {
    const index = freeTexts.indexOf(field);
    if (index < 0) throw new Error(`The API has no free text ${field}`);
    const text = textOf(round, index);
    this.texts.set(field, [...(this.texts.get(field) ?? []), text]);
    return text;
  }

  /** The newest code of the authenticator, as if none had been used. */
  private async code(): Promise<string> {
    await this.dashboard.world.db.query('UPDATE dashboard_user SET totp_last_step = 0 WHERE email = $1', [
      this.ann.email,
    ]);
    return generate({ secret: this.ann.secret });
  }

  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- tests look into answers freely
  private async sends(path: string, body: object): Promise<any> {
    return this.ann.asks('POST', path, { ...body, totpCode: await this.code() });
  }

  async payment(round: number): Promise<void> {
    const at = (name: string) => this.text(`createPayment ${name}`, round);
    const extraId = at('extraId');
    const made = await this.ann.asks('POST', '/api/v1/payments', {
      ...{ amount: 5, currency: 'ETH', description: at('description'), merchantOrderId: at('merchantOrderId') },
      ...{ customerId: at('customerId'), extraId },
      metadata: { [extraId]: { '<x-hit>': '</script><script>hit()</script>' } },
    });
    this.payments.push(made.paymentId);
    this.ids['paymentId'] = made.paymentId;
    if (round % 2) this.links.push(made.invoiceUrl);
    else
      await this.ann.asks('POST', `/api/v1/payments/${made.paymentId}/cancel`, {
        reason: this.text('cancelPayment reason', round),
      });
  }

  async developers(round: number): Promise<void> {
    await this.sends('/api/v1/api-keys', { name: this.text('createApiKey name', round), scopes: ['payments:read'] });
    const { id } = await this.ann.asks('POST', '/api/v1/webhook-endpoints', {
      ...{ url: `${this.dashboard.world.callbackUrl}?${round}`, enabledEvents: ['*'] },
      description: this.text('createWebhookEndpoint description', round),
    });
    this.ids['endpointId'] = id;
  }

  async widget(round: number): Promise<void> {
    const at = (name: string) => this.text(`createWidget ${name}`, round);
    const { id } = await this.ann.asks('POST', '/api/v1/widgets', {
      ...{ type: 'donation', name: at('name'), amountMode: 'variable', allowedOrigins: ['127.0.0.1'] },
      ...{ donorFields: ['name', 'phone', 'address', 'comment'], thankYouText: at('thankYouText') },
      branding: { buttonLabel: at('branding.buttonLabel'), subLabel: at('branding.subLabel') },
    });
    this.ids['widgetId'] = id;
  }

  /** What a donor writes, from a page of the shop. */
  async donation(round: number): Promise<void> {
    const { publishableKey } = await this.ann.asks('GET', '/api/v1/api-keys/publishable');
    const at = (name: string) => this.text(`openWidgetCheckout donor.${name}`, round);
    const { apiUrl } = this.dashboard.world.stack;
    const answer = await fetch(`${apiUrl}/api/v1/public/widgets/${this.ids['widgetId']}/checkout`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${publishableKey}`,
        'content-type': 'application/json',
        origin: 'http://127.0.0.1:1',
      },
      body: JSON.stringify({
        ...{ checkoutToken: randomBytes(16).toString('hex'), amount: '5', currency: 'ETH' },
        donor: { name: at('name'), phone: at('phone'), address: at('address'), comment: at('comment') },
      }),
    });
    const { data } = (await answer.json()) as { data: { invoiceUrl: string } };
    expect(answer.status).toBe(201);
    this.links.push(new URL(data.invoiceUrl, this.dashboard.world.stack.checkoutUrl).pathname);
    const [row] = (await this.ann.rowsOf(
      'SELECT id FROM payment WHERE merchant_id = $1 AND widget_id IS NOT NULL ORDER BY created_at DESC LIMIT 1',
    )) as [{ id: string }];
    this.donations.push(row.id);
  }

  /** What takes a balance: a withdrawal, a mass payout, refunds of the payment that brought it. */
  async money(round: number): Promise<void> {
    const address = `0x${randomBytes(20).toString('hex')}`;
    const label = this.text('whitelistWallet label', round);
    await this.sends('/api/v1/whitelist/wallet', { currency: 'ETH', address, label });
    const withdrawal = await this.sends('/api/v1/withdrawals', {
      ...{ currency: 'ETH', amount: '0.001', feeMode: 'deduct', address },
      ...{ note: this.text('createWithdrawal note', round), idempotencyKey: randomBytes(8).toString('hex') },
    });
    this.ids['withdrawalId'] = withdrawal._id;
    const payout = await this.sends('/api/v1/mass-payouts', {
      ...{ rows: [{ currency: 'ETH', address, amount: '0.001' }], confirm: true },
      ...{ label: this.text('queuePayouts label', round), idempotencyKey: randomBytes(8).toString('hex') },
    });
    this.ids['payoutId'] = payout._id;
    const { items } = await this.ann.asks('GET', '/api/v1/payments?status=SETTLED');
    const at = (name: string) => this.text(`createRefund ${name}`, round);
    const refund = await this.sends(`/api/v1/payments/${items[0]._id}/refunds`, {
      ...{ type: 'partial', amount: '0.001', reason: at('reason'), reference: at('reference') },
      ...(round ? { address } : {}),
    });
    if (refund.claimUrl) this.links.push(new URL(refund.claimUrl).pathname);
    this.payments.push(items[0]._id);
  }

  /** Somebody who has accepted, and somebody who has not. Returns the link of the one who has not. */
  async team(): Promise<string> {
    const invite = async (name: string, more = {}): Promise<string> => {
      const email = `${name}.${this.ann.email}`;
      const body = { email, role: 'merchant_member', permissions: ['payments:view'], ...more };
      await this.sends('/api/v1/team-invitations', body);
      return this.mailedLink(email);
    };
    const token = new URLSearchParams(new URL(await invite('bob')).hash.slice(1)).get('token');
    const displayName = this.text('acceptInvitation displayName');
    await this.ann.asks('POST', '/api/v1/team-invitations/accept', { token, displayName, password });
    return invite('carl', { displayName: this.text('createInvitation displayName') });
  }

  private async mailedLink(email: string): Promise<string> {
    const { stack, until } = this.dashboard.world;
    let link = '';
    await until.call(this.dashboard.world, `the invitation of ${email}`, async () => {
      const answer = await fetch(`${stack.mail.url}/messages.json?to=${encodeURIComponent(email)}`);
      const [mail] = (await answer.json()) as CaughtMail[];
      link = /(http:\S+)/.exec(mail?.text ?? '')?.[1] ?? '';
      return link !== '';
    });
    return link;
  }

  async passkey(): Promise<void> {
    const { page } = this.ann;
    await this.ann.plugsInPasskey();
    await this.ann.goTo('/account');
    await this.ann.press('Add a passkey');
    const dialog = this.ann.dialog('Add a passkey');
    await dialog.getByLabel('Name').fill(this.text('passkeyRegister name'));
    await dialog.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByLabel('Code from your authenticator').fill(await this.code());
    await this.ann.press('Confirm');
    await this.ann.sees('Passkey added');
  }

  /** From then on money leaves from this place alone. */
  async place(): Promise<void> {
    for (const [round, ip] of ['127.0.0.1', '::1'].entries())
      await this.sends('/api/v1/whitelist/ip', { ip, label: this.text('whitelistIp label', round) });
  }

  /** The status of the answer where this address is put into this field. */
  async answerTo(field: string, address: string): Promise<number> {
    const [route, name] = field.split(' ') as [string, string];
    const [method, path, rest] = {
      createPayment: ['POST', 'payments', { amount: 5, currency: 'ETH' }] as const,
      createWebhookEndpoint: ['POST', 'webhook-endpoints', { enabledEvents: ['*'] }] as const,
      changeWebhookEndpoint: ['PATCH', `webhook-endpoints/${this.ids['endpointId']}`, {}] as const,
      createWidget: ['POST', 'widgets', { type: 'donation', name: 'x', amountMode: 'variable' }] as const,
      changeWidget: ['PATCH', `widgets/${this.ids['widgetId']}`, {}] as const,
      changeBranding: ['PATCH', 'settings/branding', {}] as const,
    }[route]!;
    const { origin } = new URL(this.dashboard.url);
    const data = { ...rest, [name]: address };
    const answer = await this.ann.context.request.fetch(`${origin}/api/v1/${path}`, {
      ...{ method, data, headers: { origin } },
    });
    return answer.status();
  }

  /** A drawing that would run, load and write over the page. */
  async logo(): Promise<void> {
    const image = Buffer.from(hostileLogo).toString('base64');
    await this.ann.asks('POST', '/api/v1/settings/branding/logo', { image });
  }

  async everything(): Promise<void> {
    for (let round = 0; round < rounds; round += 1) {
      await this.payment(round);
      await this.widget(round);
      await this.dashboard.forgetLimits();
    }
    for (let round = 0; round < 3; round += 1) {
      await this.developers(round);
      await this.donation(round);
      await this.money(round);
    }
    await this.logo();
    await this.passkey();
    await this.place();
  }
}
