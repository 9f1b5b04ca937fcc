/* Makes the page live: it works without this file. The server renders; this asks it again when something changed. */
(() => {
  'use strict';
  const main = document.getElementById('invoice');
  const announcer = document.getElementById('announcer');
  const slug = main.dataset.slug;
  const copied = 'Copied';
  document.documentElement.classList.add('live');

  let skew = 0; // server's clock minus ours
  let announced = '';
  const frame = () => main.querySelector('.frame');
  const say = (text) => {
    announcer.textContent = '';
    setTimeout(() => (announcer.textContent = text), 50);
  };
  const takeClock = () => {
    const now = frame()?.dataset.now;
    if (now) skew = Date.parse(now) - Date.now();
  };

  // Swaps the page for what the server shows now, and keeps the focus where it was.
  let asking = false;
  let again = false;
  async function refresh() {
    if (asking) {
      again = true;
      return;
    }
    asking = true;
    try {
      const response = await fetch(location.pathname, { headers: { accept: 'text/html' } });
      if (response.ok) {
        const page = new DOMParser().parseFromString(await response.text(), 'text/html');
        const fresh = page.getElementById('invoice');
        if (fresh && fresh.querySelector('.frame')?.dataset.version !== frame()?.dataset.version) {
          const wasOpen = Boolean(main.querySelector('details[open]'));
          const focused = document.activeElement?.getAttribute('aria-label');
          main.replaceChildren(...fresh.childNodes);
          main.dataset.over = fresh.dataset.over;
          document.title = page.title;
          if (wasOpen) main.querySelector('details')?.setAttribute('open', '');
          if (focused) main.querySelector(`[aria-label="${CSS.escape(focused)}"]`)?.focus();
          const text = frame()?.dataset.announce ?? '';
          if (text !== announced) say(text);
          announced = text;
        }
        takeClock();
        tick(); // what is new shows its time at once
      }
    } catch {
      // offline: the stream or the next poll tries again
    } finally {
      asking = false;
      if (again) {
        again = false;
        void refresh();
      }
    }
  }

  // A price that is over is renewed by an act of the page, while somebody has it open before them.
  let isRenewing = false;
  let renewedAt = -Infinity;
  async function renew() {
    const form = main.querySelector('form[data-renew]');
    if (!form || isRenewing || document.hidden || Date.now() - renewedAt < 10000) return;
    isRenewing = true;
    renewedAt = Date.now();
    try {
      await fetch(form.action, { method: 'POST', redirect: 'manual' });
      await refresh();
    } catch {
      // offline: the next tick tries again
    } finally {
      isRenewing = false;
    }
  }

  // Countdown by the server's clock; spoken at thresholds only.
  const spoken = new Set();
  function tick() {
    for (const element of document.querySelectorAll('[data-countdown]')) {
      const left = Math.max(0, Math.round((Date.parse(element.dataset.countdown) - Date.now() - skew) / 1000));
      const hours = Math.floor(left / 3600);
      const pad = (value) => String(value).padStart(2, '0');
      element.textContent = `${hours ? `${hours}:` : ''}${hours ? pad(Math.floor((left % 3600) / 60)) : Math.floor(left / 60)}:${pad(left % 60)}`;
      for (const threshold of (element.dataset.warn ?? '').split(',').map((text) => parseInt(text, 10))) {
        const key = `${element.dataset.countdown}/${threshold}`;
        if (left > 0 && left <= threshold && left > threshold - 5 && !spoken.has(key)) {
          spoken.add(key);
          say(`${Math.round(threshold / 60)} min`);
        }
      }
      const key = `${element.dataset.countdown}/over`;
      if (left === 0 && !spoken.has(key)) {
        spoken.add(key);
        setTimeout(() => void refresh(), 1500);
      }
    }
  }

  document.addEventListener('click', (event) => {
    const copy = event.target.closest?.('[data-copy]');
    if (copy) {
      navigator.clipboard.writeText(copy.dataset.copy).then(
        () => {
          const before = copy.textContent;
          copy.textContent = copied;
          say(copied);
          setTimeout(() => (copy.textContent = before), 2000);
        },
        () => {
          // No right to the clipboard: mark the text, so that the payer can copy it.
          const range = document.createRange();
          range.selectNodeContents(copy.parentElement.querySelector('.value'));
          getSelection().removeAllRanges();
          getSelection().addRange(range);
        },
      );
    }
    if (event.target.closest?.('[data-print]')) window.print();
  });

  document.addEventListener('visibilitychange', () => void renew());
  takeClock();
  announced = frame()?.dataset.announce ?? '';
  tick();
  setInterval(tick, 1000);
  void renew();
  setInterval(() => void renew(), 1000);
  if (main.dataset.over !== 'yes') {
    if (slug) {
      const stream = new EventSource(`/i/${slug}/events`);
      stream.onmessage = () => void refresh();
      stream.onerror = () => {
        if (main.dataset.over === 'yes') stream.close();
      };
    }
    // Where a proxy swallows the stream.
    setInterval(() => main.dataset.over !== 'yes' && void refresh(), 15000);
  }
})();
