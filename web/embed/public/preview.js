/* The button as a shop's page would show it, in a frame of the dashboard. Its settings come from there: nothing is read
   from the API, and no checkout can be opened. */
(() => {
  'use strict';
  let widget = null;
  const refused = { code: 'PREVIEW', message: 'This is a preview.' };
  window.fetch = async (url, { method = 'GET' } = {}) => {
    const isRead = method === 'GET' && widget !== null;
    const body = isRead ? { ok: true, data: widget } : { ok: false, error: refused };
    return new Response(JSON.stringify(body), { status: isRead ? 200 : 403 });
  };
  addEventListener('message', ({ source, data }) => {
    if (source !== parent || parent === window || data?.source !== 'svc-preview') return;
    widget = data.widget;
    const button = document.createElement('crypto-pay-button');
    button.setAttribute('widget', 'preview');
    document.getElementById('preview').replaceChildren(button);
  });
  addEventListener('DOMContentLoaded', () => parent.postMessage({ source: 'svc-preview', type: 'ready' }, '*'));
})();
