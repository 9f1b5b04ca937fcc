import type { Context, Middleware } from 'koa';
import { html, type Html } from './html';
import { catalogues, textsIn, type Texts } from './texts';

/** Which language a page is in: the one of its address, the one that was chosen before, or one that the browser reads.
 *  A frame on another site keeps no cookie of ours, so its address carries the choice. */

const cookie = 'language';
const year = 365 * 86_400;

export const textsFor = (ctx: Context): Texts =>
  textsIn(ctx.query[cookie]) ??
  textsIn(ctx.cookies.get(cookie)) ??
  textsIn(ctx.acceptsLanguages(...catalogues.map(({ language }) => language))) ??
  catalogues[0]!;

/** Keeps a choice for the pages after this one. */
export const keepLanguage =
  (isSecure: boolean): Middleware =>
  (ctx, next) => {
    const chosen = textsIn(ctx.query[cookie]);
    if (chosen)
      ctx.res.appendHeader(
        'Set-Cookie',
        `${cookie}=${chosen.language}; Path=/; Max-Age=${year}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`,
      );
    return next();
  };

/** The same page in each other language. Its links name no path: one that begins with two slashes is another host. */
export const languageSwitch = (t: Texts): Html =>
  html`<nav class="languages" aria-label="${t.languages}">
    <ul>
      ${catalogues.map(
        ({ language, direction, name }) =>
          html`<li>
            ${
              language === t.language
                ? html`<span lang="${language}" aria-current="true">${name}</span>`
                : html`<a href="?${cookie}=${language}" lang="${language}" dir="${direction}" hreflang="${language}"
                    >${name}</a
                  >`
            }
          </li>`,
      )}
    </ul>
  </nav>`;
