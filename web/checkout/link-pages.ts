import type { Router } from '@koa/router';
import { claimPage, confirmClaimPage } from './claim';
import { field, readForm, seeOther, type Desk } from './request';
import { settlementPage } from './settlement';

const tokenShape = /^[0-9a-f]{64}$/;

/** The pages behind links that are secrets: a claim of a refund, a change of a settlement address. */
export function serveLinks(router: Router, { api, show, textsFor, from }: Desk): void {
  router.param('token', (token, ctx, next) => (tokenShape.test(token) ? next() : void (ctx.status = 404)));

  router.get('/w/:token', async (ctx) => {
    const token = ctx.params['token']!;
    const change = await api.settlementChange(token, from(ctx));
    if (change) show(ctx, settlementPage(textsFor(ctx), change, `/w/${token}`, ctx.query['refused'] !== undefined));
  });
  router.post('/w/:token', readForm, async (ctx) => {
    const token = ctx.params['token']!;
    const isStopped = await api.stopSettlementChange(token, from(ctx));
    seeOther(ctx, `/w/${token}${isStopped ? '' : '?refused'}`);
  });

  router.get('/r/:token', async (ctx) => {
    const token = ctx.params['token']!;
    const claim = await api.claim(token, from(ctx));
    if (claim) show(ctx, claimPage(textsFor(ctx), claim, `/r/${token}`));
  });
  router.post('/r/:token', readForm, async (ctx) => {
    const token = ctx.params['token']!;
    const path = `/r/${token}`;
    const typed = { address: field(ctx, 'address', 2000), destinationTag: field(ctx, 'destinationTag', 64) };
    const isFinal = field(ctx, 'confirm') === 'yes';
    const named = await api.nameAddress(token, typed, isFinal, from(ctx));
    if (typeof named === 'object')
      return isFinal ? seeOther(ctx, path) : show(ctx, confirmClaimPage(textsFor(ctx), named, path));
    const claim = await api.claim(token, from(ctx));
    const status = named === 'refused' ? 400 : 503;
    if (claim) show(ctx, claimPage(textsFor(ctx), claim, path, { ...typed, why: named }), status);
  });
}
