import { html, type Html } from './html';
import { languageSwitch } from './language';
import type { Texts } from './texts';

/** `slug`: whose stream says when to look again. `polls`: looks again now and then. */
export type Page = Readonly<{
  title: string;
  body: Html;
  slug?: string;
  polls?: boolean;
  isOver?: boolean;
  /** Of a test instance, whatever this process was told. */
  isTest?: boolean;
  /** Whom to ask, in place of words for any merchant. */
  help?: Html;
  /** A style sheet with the merchant’s colour. */
  accent?: string | undefined;
}>;

/** A whole document around a page. `version` changes with the static files, so that browsers may keep them for ever.
 *  `openedBy`: origin of the page that shows it in a frame; `path`: where the page is. */
export const document = (
  t: Texts,
  { title, body, slug, polls, isOver, isTest, help, accent }: Page,
  { version, path, openedBy }: Readonly<{ version: string; path: string; openedBy?: string | undefined }>,
): string => {
  const isLive = Boolean(slug ?? polls);
  return html`<!doctype html>
    <html lang="${t.language}" dir="${t.direction}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex, nofollow" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/static/checkout.css?${version}" />
        ${accent !== undefined && html`<link rel="stylesheet" href="${accent}?${version}" />`}
        ${isLive && html`<script type="module" src="/static/checkout.js?${version}"></script>`}
        ${slug && !isOver && html`<script type="module" src="/static/wallets.js?${version}"></script>`}
        ${
          openedBy !== undefined &&
          html`<script src="/static/frame.js?${version}" data-origin="${openedBy}" defer></script>`
        }
      </head>
      <body>
        ${isTest && html`<aside class="test-mode">${t.testMode}</aside>`}
        ${
          isLive &&
          !isOver &&
          html`<noscript>
            <p class="still">${t.still} <a href="${path}">${t.reload}</a></p>
          </noscript>`
        }
        <main
          id="invoice"
          data-slug="${slug ?? ''}"
          data-over="${isOver ? 'yes' : 'no'}"
          data-locale="${t.locale}"
          data-copied="${t.copied}"
        >
          ${body}
        </main>
        <p id="announcer" class="unseen" role="status" aria-live="polite"></p>
        <footer>${help ?? html`<p>${t.help}</p>`} ${languageSwitch(t)}</footer>
      </body>
    </html>`.text;
};

/** A page that says one thing. `again`: where it leads back to. */
export const notice = (title: string, text: string, again?: Readonly<{ href: string; text: string }>): Page => ({
  title,
  body: html`<section class="card notice">
    <h1>${title}</h1>
    <p>${text}</p>
    ${again !== undefined && html`<p><a class="button" href="${again.href}">${again.text}</a></p>`}
  </section>`,
});
