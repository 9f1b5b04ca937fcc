import type { Server } from 'node:http';
import { DomainError } from '../../domain/errors';
import { rateClasses } from '../../domain/access/rate-limits';
import { startCheckout } from './checkout-server';
import { unguarded } from '../unguarded';
import { startHarness, type Harness, type Shop } from './harness';

/** The checkout before the API as in production: each behind a proxy, and the checkout on an address of its own. */

let h: Harness;
let shop: Shop;
let server: Server;
let base: string;
beforeAll(async () => {
  h = await startHarness({ PROXY_COUNT: '1', CHECKOUT_IPS: '127.0.0.1' });
  shop = await h.shop();
  ({ server, url: base } = await startCheckout(h, 1));
});
afterAll(async () => {
  server?.close();
  await h?.stop();
});

/** What a browser at `payer` gets, through the proxy in front of the checkout. `claims`: what it says of itself. */
async function browse(path: string, { payer = '203.0.113.7', method = 'GET', claims = '' } = {}) {
  const answer = await fetch(base + path, {
    method,
    redirect: 'manual',
    headers: { 'X-Forwarded-For': `${claims && `${claims}, `}${payer}` },
  });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

async function anInvoice() {
  const { body } = await h.call('POST', '/api/v1/payments', { key: shop.key, body: { amount: 25, currency: 'BTC' } });
  return { id: body.paymentId as string, page: `/i/${body.invoiceUrl.split('/').pop()}`, amount: String(body.amount) };
}

describe('limits', () => {
  it('are kept for each payer, whatever one says of himself', async () => {
    const cancel = (payer: string, claims?: string) =>
      browse('/i/nosuchinvoice00/cancel', { payer, method: 'POST', ...(claims ? { claims } : {}) });
    for (let n = 0; n < rateClasses.cancel.points; n++)
      expect((await cancel('198.51.100.1', `10.0.0.${n}`)).status).toBe(303);
    expect((await cancel('198.51.100.1')).status).toBe(429);
    expect((await cancel('198.51.100.1', '198.51.100.2')).status).toBe(429);
    expect((await cancel('198.51.100.2')).status).toBe(303);
  });

  it('are told in plain words, with when to come again, for acts and for reads', async () => {
    const payer = '198.51.100.3';
    const { page } = await anInvoice();
    expect((await browse(page, { payer })).status).toBe(200);
    for (const [route, limit] of [
      ['cancelInvoice', rateClasses.cancel],
      ['getInvoiceStatus', rateClasses.poll],
      ['streamInvoice', rateClasses.poll],
    ] as const)
      for (let n = 0; n < limit.points; n++) await h.api.deps.limits.consume(route, payer, limit);
    for (const [path, method] of [
      [page, 'GET'],
      [`${page}/cancel`, 'POST'],
      [`${page}/events`, 'GET'],
    ] as const) {
      const answer = await browse(path, { payer, method });
      expect(answer.status).toBe(429);
      const seconds = Number(answer.headers.get('retry-after'));
      expect(seconds).toBeGreaterThan(0);
      expect(answer.text).toContain('Too many requests');
      expect(answer.text).toContain(`Please try again in ${seconds} seconds.`);
      expect(answer.text).toContain(`href="${page}"`);
      expect(answer.text).not.toContain('does not answer');
    }
    expect((await browse(page)).status).toBe(200);
  });
});

describe('a price that is over', () => {
  const end = (id: string) =>
    h.db.query(
      `UPDATE payment SET quote_expires_at = now() - interval '1 second', amount = amount * 2,
         state_version = state_version + 1
        WHERE id = $1`,
      [id],
    );
  /** As the payment's workflow does it: a new price, for a while. */
  const renews = () =>
    jest.spyOn(h.api.deps.commands, 'refreshQuote').mockImplementation(async ({ id }) => {
      await h.db.query(
        `UPDATE payment SET quote_expires_at = now() + interval '15 minutes', amount = amount / 2,
           state_version = state_version + 1
          WHERE id = $1`,
        [id],
      );
      return { status: 'WAITING' };
    });

  it('is renewed by no look, only by the form, which the script sends too while nothing has come', async () => {
    const { id, page, amount } = await anInvoice();
    const renewal = renews();
    expect((await browse(page)).text).toContain(`Send exactly ${amount} BTC`);
    await end(id);
    for (let n = 0; n < 3; n++) {
      const { status, text } = await browse(page);
      expect(status).toBe(200);
      expect(text).toMatch(new RegExp(`action="${page}/refresh"\\s+data-renew`));
      expect(text).not.toContain('class="qr"');
    }
    expect(renewal).not.toHaveBeenCalled();
    expect((await browse(`${page}/refresh`, { method: 'POST' })).status).toBe(303);
    expect(renewal).toHaveBeenCalledTimes(1);
    const { text } = await browse(page);
    for (const part of [`Send exactly ${amount} BTC`, 'class="qr"', 'This price is held for'])
      expect(text).toContain(part);
  });

  it.each(['QUOTE_NOT_REFRESHABLE', 'RATE_UNAVAILABLE', 'RATE_LIMITED', 'OUTCOME_UNKNOWN'] as const)(
    'is not to be paid where there is no other: %s',
    async (code) => {
      const { id, page, amount } = await anInvoice();
      await end(id);
      const doubled = String(Number(amount) * 2);
      jest.spyOn(h.api.deps.commands, 'refreshQuote').mockRejectedValue(new DomainError(code));
      const { status, text } = await browse(page);
      expect(status).toBe(200);
      expect(text).toContain('The price is no longer held. Get the current one before you pay.');
      expect(text).toContain(`action="${page}/refresh"`);
      expect(text).toContain(`<a href="${page}">Reload the page</a>`);
      expect(text).toContain('Cancel this invoice');
      for (const payable of [doubled, 'class="qr"', 'bitcoin:', 'data-copy']) expect(text).not.toContain(payable);

      renews();
      const answer = await browse(`${page}/refresh`, { method: 'POST' });
      expect([answer.status, answer.headers.get('location')]).toEqual([303, page]);
      expect((await browse(page)).text).toContain(`Send exactly ${amount} BTC`);
    },
  );

  it('stays over where the time to pay is, or money has come', async () => {
    const renewal = renews();
    const late = await anInvoice();
    await end(late.id);
    await h.db.query("UPDATE payment SET expires_at = now() - interval '1 second' WHERE id = $1", [late.id]);
    const { text } = await browse(late.page);
    expect(text).toContain('The price is no longer held, and the time to pay is over.');
    expect(text).not.toContain('class="qr"');
    expect(text).not.toContain(`action="${late.page}/refresh"`);

    const paid = await anInvoice();
    await end(paid.id);
    await h.db.query(
      `UPDATE payment SET status = 'PARTIALLY_PAID', amount_paid = 0.00001, state_version = state_version + 1
        WHERE id = $1`,
      [paid.id],
    );
    const part = (await browse(paid.page)).text;
    expect(part).toContain('The price is no longer held. Get the current one before you pay.');
    expect(part).toContain(`action="${paid.page}/refresh"`);
    expect(part).not.toContain('data-renew');
    for (const payable of ['Send the remaining', 'class="qr"', 'bitcoin:', 'Still missing'])
      expect(part).not.toContain(payable);
    expect(renewal).not.toHaveBeenCalled();
    await h.db.query("UPDATE payment SET quote_expires_at = now() + interval '1 minute' WHERE id = $1", [paid.id]);
    const held = (await browse(paid.page)).text;
    expect(held).toContain('Send the remaining');
    expect(held).toContain('This price is held for');
  });
});

describe('B12: answers', () => {
  const encoded = async (path: string, accept: string) => {
    const answer = await fetch(base + path, { headers: { 'Accept-Encoding': accept } });
    return [answer.status, answer.headers.get('content-encoding'), answer.headers.get('vary')?.split(', ').at(-1)];
  };
  it('are compressed as the browser can unpack them', async () => {
    const { page } = await anInvoice();
    for (const path of [page, '/static/checkout.js', '/static/checkout.css', '/embed.js']) {
      expect(await encoded(path, 'gzip, deflate, br')).toEqual([200, 'br', 'Accept-Encoding']);
      expect(await encoded(path, 'gzip')).toEqual([200, 'gzip', 'Accept-Encoding']);
      expect(await encoded(path, 'identity')).toEqual([200, null, 'Accept-Encoding']);
    }
  });
  it('are not where a secret link stands in them beside what somebody typed', async () =>
    expect((await encoded(`/r/${'0'.repeat(64)}`, 'gzip, br'))[1]).toBeNull());
});

describe('B8: the language of a page', () => {
  const read = async (path: string, headers: Record<string, string>) => {
    const answer = await fetch(base + path, { headers });
    const text = await answer.text();
    return { answer, language: /<html lang="(\w+)" dir="(\w+)">/.exec(text)!.slice(1).join(' ') };
  };
  it.each([
    ['de-AT,de;q=0.9,en;q=0.8', 'de ltr'],
    ['ar', 'ar rtl'],
    ['nl, fr-CH;q=0.5', 'fr ltr'],
    ['pt-BR', 'pt ltr'],
    ['ja', 'en ltr'],
    ['*', 'en ltr'],
    ['', 'en ltr'],
  ])('follows Accept-Language: %s', async (accept, language) => {
    const found = await read('/', { 'Accept-Language': accept });
    expect(found.language).toBe(language);
    expect(found.answer.headers.get('content-language')).toBe(language.split(' ')[0]);
    expect(found.answer.headers.get('vary')).toContain('Accept-Language');
    expect(found.answer.headers.get('set-cookie')).toBeNull();
  });
  it('is the chosen one from then on, in the frame by its address', async () => {
    const { page } = await anInvoice();
    const chosen = await read(`${page}?language=es`, { 'Accept-Language': 'de' });
    expect(chosen.language).toBe('es ltr');
    const cookie = chosen.answer.headers.get('set-cookie')!;
    expect(cookie).toMatch(/^language=es; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/);
    const kept = await read(page, { 'Accept-Language': 'de', Cookie: cookie.split(';')[0]! });
    expect(kept.language).toBe('es ltr');
    const act = await fetch(`${base}${page}/cancel?language=es`, { method: 'POST', redirect: 'manual' });
    expect(act.headers.get('location')).toMatch(/[?&]language=es$/);
  });
  it('is none that we do not have', async () => {
    const odd = await read('/?language=%22%3E%3Cscript%3E', { Cookie: 'language=xx' });
    expect([odd.language, odd.answer.headers.get('set-cookie')]).toEqual(['en ltr', null]);
  });
});

describe('B11: the receipt as a file', () => {
  it('is there once it is paid, and not before', async () => {
    const { id, page } = await anInvoice();
    expect((await browse(`${page}/receipt.pdf`)).status).toBe(404);
    await unguarded(h.db, (tx) =>
      tx.query(
        `UPDATE payment SET status = 'CONFIRMED', amount_paid = amount, confirmed_at = now(), state_version = 3
          WHERE id = $1`,
        [id],
      ),
    );
    expect((await browse(page)).text).toContain(`href="${page}/receipt.pdf"`);
    const { status, headers, text } = await browse(`${page}/receipt.pdf`);
    expect([status, headers.get('content-type'), text.slice(0, 5)]).toEqual([200, 'application/pdf', '%PDF-']);
  });
});
