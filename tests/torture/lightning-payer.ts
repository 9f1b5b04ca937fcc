import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { base64, fields, text } from '../../chains/lightning/answers';
import { lndHttp, type Lnd } from '../../chains/lightning/http';
import { readInvoice } from '../../chains/lightning/invoice';
import { lndInvoices, type LndInvoices } from '../../chains/lightning/invoices';
import { lndPayments, type LndPayments } from '../../chains/lightning/payments';
import { invoiceBlocks } from '../../domain/lightning/held-money';
import { toUnits } from '../../domain/money';
import type { LightningParts } from '../../sandbox/parts/lightning';

/** How a payer pays an invoice: for another amount than it asks for, and in how many parts. */
type Way = Readonly<{ amountMsat?: bigint; parts?: number }>;

/** Features of payees by BOLT 9, as lnd numbers them: long onions, payment secrets, parts. */
const payeeFeatures = [9, 15, 17];
const feeLimitMsat = 10_000n;
const timeoutSeconds = 30;
/** Longer than anything may take. */
const patienceMs = 3_600_000;
/** Seconds: the signer gives up what it cannot know of ten minutes after its invoice has expired. */
const invoiceSeconds = 300;

/** The payer of a run: somebody else's node, which is killed as ours is. Every call may meet it while it is down. */
export class LightningPayer {
  readonly invoices: LndInvoices;
  private readonly payments: LndPayments;
  private readonly lnd: Lnd;
  readonly key: string;

  constructor({ payer, payerKey }: LightningParts) {
    const login = payer.login();
    this.invoices = lndInvoices(login, 'regtest');
    this.payments = lndPayments(login);
    this.lnd = lndHttp(login);
    this.key = payerKey;
  }

  /** Pays, and waits until it is over. true: the money is taken; false: it came back, or never left. */
  async pays(invoice: string, way: Way = {}): Promise<boolean> {
    const { hash } = readInvoice(invoice);
    const end = Date.now() + patienceMs;
    for (let isSent = false; Date.now() < end; await sleep(200)) {
      const seen = await this.payments.track(hash).catch(() => null);
      if (seen?.state === 'paid') return true;
      if (seen?.state === 'failed' && isSent) return false;
      if (!seen || seen.state === 'under way') continue;
      // Of one try that has failed, nothing is learnt about the next: there is one channel.
      await this.ask('/v2/router/mc/reset', {}).catch(() => undefined);
      const refusal = await this.send(invoice, way).then(
        () => '',
        ({ message }: Error) => message,
      );
      if (/invoice expired/.test(refusal)) return false;
      isSent = true;
    }
    throw new Error(`the payer's node tells of no end of ${hash}`);
  }

  /** Sends one part of what an invoice asks for, by hand, and waits until it is taken or comes back; of one that lnd
   *  does not tell of, nothing is known. */
  async sendsPart(invoice: string, amountMsat: bigint): Promise<void> {
    const { hash, secret, payee, cltvBlocks, amountMsat: total } = readInvoice(invoice);
    const { route } = (await this.ask('/v2/router/route', {
      ...{ amt_msat: amountMsat.toString(), final_cltv_delta: cltvBlocks + 3, hop_pubkeys: [base64(payee)] },
    })) as { route: { hops: object[] } };
    const record = { payment_addr: base64(secret), total_amt_msat: total!.toString() };
    route.hops = route.hops.map((hop) => ({ ...hop, tlv_payload: true, mpp_record: record }));
    await this.ask('/v2/router/route/send', { payment_hash: base64(hash), route, skip_temp_err: true }, 600_000);
  }

  /** An invoice of its own. `amount`: bitcoin. */
  async invoice(amount: string): Promise<string> {
    const made = await this.ask('/v1/invoices', { value: toUnits(amount, 8).toString(), expiry: `${invoiceSeconds}` });
    return text(fields(made, 'The invoice'), 'payment_request');
  }

  /** An invoice whose money it holds until `settle` with the preimage, or `cancel`. The same for the same name. */
  async holdInvoice(amount: string, name: string): Promise<Readonly<{ text: string; hash: string; preimage: string }>> {
    const preimage = createHash('sha256').update(name).digest();
    const hash = createHash('sha256').update(preimage).digest('hex');
    const { text: written } = await this.invoices.create({
      ...{ hash, amountMsat: 1000n * toUnits(amount, 8), description: name },
      ...{ expirySeconds: invoiceSeconds, cltvBlocks: invoiceBlocks },
    });
    return { text: written, hash, preimage: preimage.toString('hex') };
  }

  /** Hands it to the node, which tells how it begins. */
  private async send(invoice: string, { amountMsat, parts = 1 }: Way): Promise<unknown> {
    const { hash, secret, payee, cltvBlocks, amountMsat: asked } = readInvoice(invoice);
    const shared = {
      fee_limit_msat: feeLimitMsat.toString(),
      timeout_seconds: timeoutSeconds,
      max_parts: parts,
      ...(parts > 1 ? { max_shard_size_msat: (asked! / BigInt(parts) + 1000n).toString() } : {}),
    };
    const to =
      amountMsat === undefined
        ? { payment_request: invoice }
        : {
            ...{ dest: base64(payee), payment_hash: base64(hash), payment_addr: base64(secret) },
            ...{ amt_msat: amountMsat.toString(), final_cltv_delta: cltvBlocks, dest_features: payeeFeatures },
          };
    return this.lnd.first({
      path: '/v2/router/send',
      body: { ...to, ...shared },
      shape: (answer) => answer,
      tries: 1,
    });
  }

  private ask(path: string, body: object, waitMs = 10_000): Promise<unknown> {
    return this.lnd.ask({ path, body, shape: (answer) => answer, tries: 1, waitMs });
  }
}
