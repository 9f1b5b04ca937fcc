import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import pino from 'pino';
import type { InvoiceView } from '../../domain/payments/payment-view';
import type { ClaimView } from '../../domain/refunds/refund';
import { root } from '../../sandbox/paths';
import { checkoutApp } from '../../web/checkout/app';
import type { Choice } from '../../web/checkout/choices';
import { choices } from '../web/invoices';

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 60 20"><path d="M2 18 10 2l8 16z" fill="#b3261e"/>' +
  '<circle cx="40" cy="10" r="8" fill="#0b7a3e"/></svg>';

/** The real checkout before an API that says what a test tells it to, so that every state can be looked at. */
export class StubApi {
  private readonly invoices = new Map<string, InvoiceView>();
  private readonly choices = new Map<string, readonly Choice[]>();
  private readonly claims = new Map<string, ClaimView>();
  private readonly streams = new Map<string, Set<ServerResponse>>();
  readonly acts: string[] = [];
  /** The currency that was chosen last. */
  chosen: string | null = null;
  /** How an address for a refund is answered. */
  named = 200;
  /** Of every invoice: the page that may frame it. */
  embedding = { origin: 'http://shop.example', frameAncestors: ['shop.example:*'], thankYouText: null };
  private servers: Server[] = [];
  url = '';

  static async start({ isTest = false } = {}): Promise<StubApi> {
    const stub = new StubApi();
    const api = createServer((request, response) => {
      const url = new URL(request.url ?? '', 'http://api');
      const [, , slug = '', what] = url.pathname.split('/');
      const claim = url.pathname.startsWith('/refund-claims/') && stub.claims.get(slug);
      if (claim && request.method === 'POST') response.statusCode = stub.named;
      if (claim) return void response.end(JSON.stringify(claim));
      if (what === 'embedding') return void response.end(JSON.stringify(stub.embedding));
      if (request.method === 'POST') return void stub.act(`${slug}/${what}`, request, response);
      if (url.pathname.startsWith('/logos/')) {
        response.setHeader('content-type', 'image/svg+xml');
        return void response.end(logo);
      }
      if (what === 'events') return stub.stream(slug, response);
      if (what === 'currencies') return void response.end(JSON.stringify({ items: stub.choices.get(slug) }));
      const invoice = stub.invoices.get(url.searchParams.get('invoiceId') ?? '');
      response.statusCode = invoice ? 200 : 404;
      response.end(JSON.stringify(invoice && { ...invoice, ...stub.clock(invoice) }));
    });
    const apiUrl = await stub.listen(api);
    const pages = createServer((request, response) => void app.callback()(request, response));
    stub.url = await stub.listen(pages);
    const app = checkoutApp({
      apiUrl,
      checkoutUrl: stub.url,
      isTest,
      isProduction: false,
      proxyCount: 0,
      log: pino({ level: 'silent' }),
      publicFolder: join(root, 'web/checkout/public'),
      embedFolder: join(root, 'web/embed/public'),
      publicApiUrl: apiUrl,
      dashboardUrl: 'http://localhost:3000/dashboard',
    });
    return stub;
  }

  stop(): void {
    for (const server of this.servers) {
      server.closeAllConnections();
      server.close();
    }
  }

  /** Shows an invoice, also to the pages that are open already. Returns its page's address. */
  show(name: string, invoice: InvoiceView, offered: readonly Choice[] = choices): string {
    const slug = `${name.replace(/\W/g, '')}00000000`.toLowerCase();
    this.choices.set(slug, offered);
    this.invoices.set(slug, { ...invoice, invoiceId: slug });
    for (const stream of this.streams.get(slug) ?? []) stream.write('data: {}\n\n');
    return `${this.url}/i/${slug}`;
  }

  /** Shows a refund to its payer; an address that they type is answered with `named`. Returns its page's address. */
  showClaim(claim: ClaimView): string {
    const token = String(this.claims.size).padStart(64, '0');
    this.claims.set(token, claim);
    return `${this.url}/r/${token}`;
  }

  /** Fixed times of a fixture, as long from now as they are from its own clock. */
  private clock(invoice: InvoiceView): Partial<InvoiceView> {
    const skew = Date.now() - Date.parse(invoice.serverTime);
    const moved = (time: string | null) => time && new Date(Date.parse(time) + skew).toISOString();
    return {
      serverTime: moved(invoice.serverTime)!,
      expiresAt: moved(invoice.expiresAt),
      quoteExpiresAt: moved(invoice.quoteExpiresAt),
      crossChainAutoAcceptAt: moved(invoice.crossChainAutoAcceptAt),
      crossChainRejectAt: moved(invoice.crossChainRejectAt),
    };
  }

  private async act(what: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { currency } = (await json(request)) as { currency?: string };
    this.acts.push(what);
    this.chosen = currency ?? this.chosen;
    response.end('{}');
  }

  private stream(slug: string, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(':\n\n');
    const open = this.streams.get(slug) ?? new Set();
    open.add(response);
    this.streams.set(slug, open);
    response.once('close', () => open.delete(response));
  }

  private async listen(server: Server): Promise<string> {
    this.servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
}
