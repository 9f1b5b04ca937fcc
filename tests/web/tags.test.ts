/** @jest-environment node */
import { claimPage, confirmClaimPage } from '../../web/checkout/claim';
import { payerPart } from '../../web/checkout/payer';
import { payment } from '../../web/checkout/pay';
import { catalogues } from '../../web/checkout/texts';
import { en as texts } from '../../web/checkout/texts/en';
import { register, tagChain } from '../chain/registering';
import { aClaim } from './claims';
import { anInvoice } from './invoices';

/** Destination tags on the pages of payers. */

let unregister: () => void;
beforeAll(() => {
  unregister = register(tagChain.assets, tagChain.network);
});
afterAll(() => unregister());

const ofTags = { currency: 'TAG', network: 'tagchain' };
const invoice = (tag: string | null) => anInvoice({ ...ofTags, destinationTag: tag });

it('asks for the tag with the address, to be copied, and says what happens without it', () => {
  const page = payment(texts, invoice('4711')).text;
  const order = ['id="value-address"', 'id="value-tag"', 'data-copy="4711"', 'Without it your payment is not found.'];
  const places = order.map((words) => page.indexOf(words));
  expect(places.every((place) => place > 0)).toBe(true);
  expect([...places].sort((a, b) => a - b)).toEqual(places);
  expect(page).not.toContain('id="bare"');
  const untagged = payment(texts, anInvoice()).text;
  expect(untagged).not.toContain('value-tag');
  expect(untagged).toContain('id="bare"');
});

it('asks for the tag of a refund address where the network has tags, and nowhere else', () => {
  const form = payerPart(texts, invoice('4711')).text;
  expect(form).toContain('name="destinationTag"');
  expect(form).toContain('Your destination tag on Tag chain');
  expect(payerPart(texts, anInvoice()).text).not.toContain('destinationTag');
  const left = payerPart(texts, { ...invoice('1'), refundAddress: 'an address', refundDestinationTag: '99' }).text;
  expect(left).toContain('99');
});

it('takes the tag of a claim once more before it is final', () => {
  const asking = aClaim('awaiting_address', { ...ofTags, requiresDestinationTag: true });
  const first = claimPage(texts, asking, '/r/x', { address: 'typed', destinationTag: '12x', why: 'refused' }).body.text;
  expect(first).toMatch(/name="destinationTag"[^>]*value="12x"/s);
  const sure = confirmClaimPage(texts, { ...asking, address: 'to', destinationTag: '12' }, '/r/x').body.text;
  expect(sure).toContain('<input type="hidden" name="destinationTag" value="12" />');
  expect(sure).toContain('<p class="label">Destination tag</p>');
  const sent = claimPage(texts, { ...asking, status: 'pending', address: 'to', destinationTag: '12' }, '/r/x').body
    .text;
  expect(sent).toContain('<p class="label">Destination tag</p>');
  const other = claimPage(texts, aClaim('awaiting_address'), '/r/x').body.text;
  expect(other).not.toContain('destinationTag');
  expect(confirmClaimPage(texts, aClaim('awaiting_address', { address: 'to' }), '/r/x').body.text).not.toContain(
    'destinationTag',
  );
});

it.each(catalogues.map((t) => [t.language, t] as const))('%s: has words of its own for tags', (language, t) => {
  const own = [t.tag, t.copyTag, t.needsTag, t.ownTag];
  expect(own.every((text) => text.length > 3)).toBe(true);
  expect(t.ownTag).toContain('{network}');
  if (language !== 'en') expect(own).not.toEqual([texts.tag, texts.copyTag, texts.needsTag, texts.ownTag]);
});
