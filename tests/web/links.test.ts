import { request } from 'node:http';
import { StubApi } from '../browser/stub-api';
import { anInvoice } from './invoices';

/** Where the links of a page of the checkout lead: a stranger writes the address of the page. */

let stub: StubApi;
beforeAll(async () => {
  stub = await StubApi.start();
});
afterAll(() => stub.stop());

/** What a page answers at exactly this path, which `fetch` would tidy up. */
const pageAt = (path: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(stub.url);
    const asked = request({ hostname, port, path }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () => resolve(text));
    });
    asked.on('error', reject).end();
  });

const linksOf = (page: string): string[] => [...page.matchAll(/<a\s[^>]*?href="([^"]*)"/g)].map(([, href]) => href!);

it.each([
  '//evil.example/i/x',
  '/\\evil.example/',
  '//evil.example',
  '/javascript:alert(1)',
  '/i/nowhere00000?next=https://evil.example/',
])('7: no link leads away from a page that does not exist: %s', async (path) => {
  const page = await pageAt(path);
  const links = linksOf(page);
  expect(links).not.toEqual([]);
  const away = links.filter((href) => new URL(href, `${stub.url}${path}`).origin !== new URL(stub.url).origin);
  expect(away).toEqual([]);
});

it('changes the language of the page it is on', async () => {
  const url = stub.show('invoice', anInvoice({}));
  const links = linksOf(await pageAt(new URL(url).pathname)).map((href) => new URL(href, url).href);
  expect(links).toContain(`${url}?language=de`);
});
