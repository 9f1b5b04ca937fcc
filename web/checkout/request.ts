import { bodyParser } from '@koa/bodyparser';
import type { Context } from 'koa';
import type { ApiClient } from './api-client';
import type { Page } from './page';
import { textsIn, type Texts } from './texts';

/** What every page has at hand. */
export type Desk = Readonly<{
  api: ApiClient;
  show: (ctx: Context, page: Page, status?: number) => void;
  textsFor: (ctx: Context) => Texts;
  /** The payer's address. */
  from: (ctx: Context) => string;
  /** Cookies over HTTPS alone. */
  isSecure: boolean;
}>;

/** A context with the parts of its path. */
export type Asked = Context & { params: Record<string, string> };

export const readForm = bodyParser({ enableTypes: ['form'], formLimit: '4kb' });
const inputOf = (ctx: Context): Record<string, unknown> =>
  (ctx.request as unknown as { body?: Record<string, unknown> }).body ?? {};
/** A field of the form that was sent; '' where there is none. */
export function field(ctx: Context, name: string, maxLength = 120): string {
  const value = inputOf(ctx)[name];
  return typeof value === 'string' ? value.trim().slice(0, maxLength) : '';
}

/** After an act a look, so that a reload repeats no act. */
export function seeOther(ctx: Context, path: string): void {
  const language = textsIn(ctx.query['language'])?.language;
  ctx.redirect(language ? `${path}${path.includes('?') ? '&' : '?'}language=${language}` : path);
  ctx.status = 303;
}
