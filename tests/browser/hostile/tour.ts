import type { Person } from '../person';

/** Opens pages, and looks for what a text of theirs has become. */

/** What no page of ours has of its own: an element or a handler that a text has made. */
const made =
  'x-hit, img[src="x"], svg[onload], [onerror], [onload], [onfocus], [onclick], script:not([src]), ' +
  'style:not([nonce]), a[href^="javascript:" i], iframe[srcdoc]';

const looks = `(() => {
  const roots = [document, ...[...document.querySelectorAll('*')].flatMap((one) => one.shadowRoot ?? [])];
  const all = (what) => roots.flatMap((one) => [...one.querySelectorAll(what)]);
  return {
    rests: !document.querySelector('[class*=skeleton]') && document.querySelector('main, body > h1') !== null,
    made: all(${JSON.stringify(made)}).filter(({ type }) => type !== 'application/json').map((one) => one.outerHTML),
    text: roots.map((one) => one === document ? document.body.textContent : one.textContent).join(' ') + ' ' +
      all('input, textarea').map((one) => one.value).join(' '),
    wide: document.documentElement.scrollWidth <= window.innerWidth ? [] : ['the page', ...all('body *')
      .filter((one) => one.getBoundingClientRect().right > window.innerWidth && !one.closest('[class*=scroll]'))
      .map((one) => one.outerHTML.slice(0, 200))],
  };
})()`;
type Look = Readonly<{ rests: boolean; made: string[]; text: string; wide: string[] }>;

/** What a page shows once it has come to rest. Fails where a text has become more than a text, or made the page wider
 *  than a phone. */
export async function look(person: Person, url: string): Promise<string> {
  await person.page.goto(url);
  return lookAround(person);
}

/** The same of what is open now. */
export async function lookAround(person: Person): Promise<string> {
  const url = person.page.url();
  let found: Look | undefined;
  await person.dashboard.world.until(`${url} has come to rest`, async () => {
    found = await person.page.evaluate<Look>(looks).catch(() => undefined); // it went on to another page
    return found?.rests === true;
  });
  expect([url, found!.made, found!.wide]).toEqual([url, [], []]);
  return found!.text;
}
