import type { InvoiceView } from '../../domain/payments/payment-view';
import type { ClaimView } from '../../domain/refunds/refund';
import type { NotNamed, Typed } from './claim';
import type { SettlementChange } from './settlement';
import type { Choice } from './choices';

/** `origin`: of the page that opened the checkout. `frameAncestors`: sources for the policy of the frame. */
export type Embedding = Readonly<{ origin: string; frameAncestors: readonly string[] }>;

/** The API did not answer, or not as it should. */
export class ApiAway extends Error {}

/** The API has had enough of this payer for a while. */
export class TooManyRequests extends Error {
  constructor(readonly retryAfterSeconds: number) {
    super(`HTTP 429, again in ${retryAfterSeconds} s`);
  }
}

const timeoutMs = 8000;
const retryAfter = (response: Response): number => parseInt(response.headers.get('retry-after') ?? '', 10) || 60;

/** The public part of the API, as the checkout uses it. `from`: the payer's address, for the API's limits. All of it
 *  throws ApiAway and TooManyRequests. */
export class ApiClient {
  constructor(private readonly base: string) {}

  private async ask(path: string, from: string, body?: object): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(new URL(path, this.base), {
        method: body ? 'POST' : 'GET',
        headers: {
          accept: 'application/json',
          'x-forwarded-for': from,
          ...(body ? { 'content-type': 'application/json' } : {}),
        },
        body: body ? JSON.stringify(body) : undefined,
        signal: AbortSignal.timeout(timeoutMs),
      });
    } catch (error) {
      throw new ApiAway((error as Error).message);
    }
    if (response.status === 429) throw new TooManyRequests(retryAfter(response));
    return response;
  }

  /** null: there is no such invoice. */
  async invoice(slug: string, from: string): Promise<InvoiceView | null> {
    const response = await this.ask(`/getInvoiceStatus?invoiceId=${encodeURIComponent(slug)}`, from);
    if (response.status === 404) return null;
    if (!response.ok) throw new ApiAway(`HTTP ${response.status}`);
    return (await response.json()) as InvoiceView;
  }

  /** A merchant's logo; null: there is none of this id. */
  async logo(logoId: string, from: string): Promise<Readonly<{ type: string; content: Buffer }> | null> {
    const response = await this.ask(`/logos/${encodeURIComponent(logoId)}`, from);
    if (response.status === 404) return null;
    if (!response.ok) throw new ApiAway(`HTTP ${response.status}`);
    const type = response.headers.get('content-type') ?? '';
    if (type !== 'image/png' && type !== 'image/svg+xml') throw new ApiAway(`A logo of the type ${type}`);
    return { type, content: Buffer.from(await response.arrayBuffer()) };
  }

  /** Which pages may frame the invoice; null: none. */
  async embedding(slug: string, from: string): Promise<Embedding | null> {
    const response = await this.ask(`/invoice/${encodeURIComponent(slug)}/embedding`, from);
    if (response.status === 404) return null;
    if (!response.ok) throw new ApiAway(`HTTP ${response.status}`);
    return (await response.json()) as Embedding;
  }

  async choices(slug: string, from: string): Promise<Choice[]> {
    const response = await this.ask(`/invoice/${encodeURIComponent(slug)}/currencies`, from);
    if (!response.ok) throw new ApiAway(`HTTP ${response.status}`);
    return ((await response.json()) as { items: Choice[] }).items;
  }

  /** Whether the API did it; false is a refusal of the payment's own, which the page then shows. */
  async act(
    slug: string,
    action: 'select-currency' | 'refresh-quote' | 'cancel',
    body: object,
    from: string,
  ): Promise<boolean> {
    const response = await this.ask(`/invoice/${encodeURIComponent(slug)}/${action}`, from, body);
    if (response.status >= 500) throw new ApiAway(`HTTP ${response.status}`);
    return response.ok;
  }

  /** The browser's token, once it is the payer's; null where the API refuses the act or the address. */
  async becomePayer(slug: string, act: object, from: string): Promise<string | null> {
    const response = await this.ask(`/invoice/${encodeURIComponent(slug)}/payer`, from, act);
    if (response.status >= 500) throw new ApiAway(`HTTP ${response.status}`);
    return response.ok ? ((await response.json()) as { payerToken: string }).payerToken : null;
  }

  /** Whether the API keeps the address for the receipt. */
  async leaveReceiptEmail(
    slug: string,
    body: Readonly<{ email: string; language: string }>,
    from: string,
  ): Promise<boolean> {
    const response = await this.ask(`/invoice/${encodeURIComponent(slug)}/receipt-email`, from, body);
    if (response.status >= 500) throw new ApiAway(`HTTP ${response.status}`);
    return response.ok;
  }

  /** The link of the payer's refund; null where this browser gets none. */
  async refundLink(slug: string, payerToken: string, from: string): Promise<string | null> {
    const response = await this.ask(`/invoice/${encodeURIComponent(slug)}/refund-link`, from, { payerToken });
    if (response.status >= 500) throw new ApiAway(`HTTP ${response.status}`);
    return response.ok ? ((await response.json()) as { claimUrl: string }).claimUrl : null;
  }

  /** null: the link is none of ours. */
  async claim(token: string, from: string): Promise<ClaimView | null> {
    const response = await this.ask(`/refund-claims/${encodeURIComponent(token)}`, from);
    if (response.status === 404) return null;
    if (!response.ok) throw new ApiAway(`HTTP ${response.status}`);
    return (await response.json()) as ClaimView;
  }

  /** The refund with its address, checked, or with `confirm` for good; why not, where the API does not take it. */
  async nameAddress(token: string, to: Typed, confirm: boolean, from: string): Promise<ClaimView | NotNamed> {
    const { address, destinationTag } = to;
    const act = { address, ...(destinationTag ? { destinationTag } : {}), confirm };
    const response = await this.ask(`/refund-claims/${encodeURIComponent(token)}`, from, act);
    if (response.status === 503) return 'not-now';
    if (response.status >= 500) throw new ApiAway(`HTTP ${response.status}`);
    return response.ok ? ((await response.json()) as ClaimView) : 'refused';
  }

  /** null: the link is none of ours. */
  async settlementChange(token: string, from: string): Promise<SettlementChange | null> {
    const response = await this.ask(`/settlement-changes/${encodeURIComponent(token)}`, from);
    if (response.status === 404) return null;
    if (!response.ok) throw new ApiAway(`HTTP ${response.status}`);
    return (await response.json()) as SettlementChange;
  }

  /** Whether the API stopped it. */
  async stopSettlementChange(token: string, from: string): Promise<boolean> {
    const response = await this.ask(`/settlement-changes/${encodeURIComponent(token)}/stop`, from, { confirm: true });
    if (response.status >= 500) throw new ApiAway(`HTTP ${response.status}`);
    return response.ok;
  }

  /** The invoice's own stream of changes; ends when `signal` aborts. */
  async events(slug: string, from: string, signal: AbortSignal): Promise<Response> {
    const response = await fetch(new URL(`/invoice/${encodeURIComponent(slug)}/events`, this.base), {
      headers: { accept: 'text/event-stream', 'x-forwarded-for': from },
      signal,
    }).catch((error: unknown) => {
      throw new ApiAway((error as Error).message);
    });
    if (response.status === 429) throw new TooManyRequests(retryAfter(response));
    return response;
  }
}
