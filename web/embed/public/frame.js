/* The hosted invoice in a frame: tells the page that opened it its height and its state, and tells nobody else. */
(() => {
  'use strict';
  const { origin } = document.currentScript.dataset;
  const main = document.getElementById('invoice');
  if (parent === window) return;
  const say = (message) => parent.postMessage({ source: 'svc-widget', ...message }, origin);
  let told;
  const tell = (again) => {
    const status = main.querySelector('.frame')?.dataset.status;
    if (status && (again || status !== told)) say({ type: 'status', status, invoiceId: main.dataset.slug });
    told = status ?? told;
  };
  const measure = () => say({ type: 'resize', height: document.body.getBoundingClientRect().bottom + scrollY });
  new MutationObserver(() => tell(false)).observe(main, { subtree: true, childList: true });
  new ResizeObserver(measure).observe(document.body);
  addEventListener('message', ({ source, origin: from, data }) => {
    if (source !== parent || from !== origin || data?.source !== 'svc-widget' || data.type !== 'hello') return;
    tell(true);
    measure();
  });
  addEventListener('keydown', ({ key }) => key === 'Escape' && say({ type: 'close' }));

  // Pages of the invoice stay in the frame; the merchant's page takes the whole window, an explorer a new one.
  const inFrame = (address) => {
    const url = new URL(address);
    if (url.origin === location.origin) url.pathname = url.pathname.replace(/^\/i\//, '/embed/');
    return url;
  };
  document.addEventListener(
    'click',
    ({ target }) => {
      const link = target.closest?.('a[href]');
      if (!link) return;
      const url = inFrame(link.href);
      if (/^https?:$/.test(url.protocol) && url.origin !== location.origin)
        link.target = link.rel.includes('noopener') ? '_blank' : '_top';
      else link.href = url.href;
    },
    true,
  );
  document.addEventListener('submit', ({ target }) => (target.action = inFrame(target.action).href), true);
  tell(true);
  measure();
})();
