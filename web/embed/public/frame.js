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
  // A page of the same words changes its status alone.
  const changes = { subtree: true, childList: true, attributeFilter: ['data-status'] };
  new MutationObserver(() => tell(false)).observe(main, changes);
  new ResizeObserver(measure).observe(document.body);
  addEventListener('message', ({ source, origin: from, data }) => {
    if (source !== parent || from !== origin || data?.source !== 'svc-widget' || data.type !== 'hello') return;
    tell(true);
    measure();
  });
  addEventListener('keydown', ({ key }) => key === 'Escape' && say({ type: 'close' }));

  // What pays stays in the frame; the merchant's page takes the whole window. Explorers take a new one, and so does
  // what needs a cookie of ours: a frame on another site has none.
  const pays = /^\/(?:i|embed)(\/\w+(?:\/(?:currency|refresh|cancel|receipt-email))?)$/;
  const placed = (element, address) => {
    const url = new URL(address);
    const [, place] = (url.origin === location.origin && pays.exec(url.pathname)) || [];
    if (place) {
      url.pathname = `/embed${place}`;
      const language = new URLSearchParams(location.search).get('language');
      if (language && !url.searchParams.has('language')) url.searchParams.set('language', language);
    } else if (/^https?:$/.test(url.protocol)) {
      const isShop = url.origin !== location.origin && !element.rel?.includes('noopener');
      element.target = isShop ? '_top' : '_blank';
    }
    return url.href;
  };
  document.addEventListener(
    'click',
    ({ target }) => {
      const link = target.closest?.('a[href]');
      if (link) link.href = placed(link, link.href);
    },
    true,
  );
  document.addEventListener('submit', ({ target }) => (target.action = placed(target, target.action)), true);
  tell(true);
  measure();
})();
