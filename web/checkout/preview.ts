import type { Router } from '@koa/router';

/** A widget as a shop's page shows it, for the frame of the dashboard's editor. Only the dashboard may frame the page;
 *  it calls nothing and opens no checkout. */
export function servePreview(router: Router, dashboardUrl: string, version: string): void {
  const ancestor = dashboardUrl === '' ? "'none'" : new URL(dashboardUrl).origin;
  const none = "default-src 'none'; base-uri 'none'; form-action 'none'";
  const policy = `${none}; script-src 'self'; frame-ancestors ${ancestor}`;
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Preview</title>
<script src="/static/preview.js?v=${version}"></script>
<script src="/embed.js" defer></script>
</head>
<body><div id="preview"></div></body>
</html>
`;
  router.get('/preview', (ctx) => {
    ctx.set('Content-Security-Policy', policy);
    ctx.set('Cache-Control', 'no-cache');
    ctx.set('X-Robots-Tag', 'noindex');
    ctx.remove('X-Frame-Options');
    ctx.type = 'html';
    ctx.body = page;
  });
}
