/* Payment buttons for the pages of a shop: <crypto-pay-button widget="…" key="pk_live_…">, or this script with
   data-widget and data-key. Loads nothing but the widget, and its checkout in a frame. */
'use strict';
if (!customElements.get('crypto-pay-button')) {
  const api = '%API_URL%';
  const checkout = '%CHECKOUT_URL%';
  const self = document.currentScript;
  // Language → words, in the order of `names`.
  const { names, ...words } = '%WORDS%';
  // Drawn in a square of 24, as lines: fonts lack some of these signs.
  const icons = {
    bitcoin: 'M6 5h7.5a3.5 3.5 0 0 1 0 7H8m0-7v14m0-7h6.5a3.5 3.5 0 0 1 0 7H6M10 3v2m4-2v2m-4 14v2m4-2v2',
    ethereum: 'M12 3l6 9-6 4-6-4zM6 15l6 6 6-6-6 4z',
    usdt: 'M5 4h14v4h-5v12h-4V8H5z',
    lightning: 'M13 2L5 13h5l-1 9 9-12h-6z',
    heart: 'M12 20s-8-5-8-11a4.5 4.5 0 0 1 8-2.5 4.5 4.5 0 0 1 8 2.5c0 6-8 11-8 11z',
    coins: 'M9 14A5 5 0 1 0 9 4a5 5 0 0 0 0 10m6-4a5 5 0 1 1-5 7',
    multicoin: 'M8 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8m8 0a4 4 0 1 0 0-8 4 4 0 0 0 0 8m-4 9a4 4 0 1 0 0-8 4 4 0 0 0 0 8',
  };
  const over = { EXPIRED: 'expired', CANCELLED: 'cancelled', FAILED: 'failed' };
  const paid = ['CONFIRMED', 'SWEEP_QUEUED', 'SETTLED'];
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`:host{display:inline-block;font:500 16px/1.3 system-ui,sans-serif}
:host([hidden]){display:none}:host(.wide),.wide{display:block;width:100%}*{box-sizing:border-box;font:inherit}
button{cursor:pointer;border:0;border-radius:var(--r);min-height:44px;padding:10px 18px;
background:var(--a);color:var(--t)}
button:disabled{cursor:default;opacity:.6}:focus-visible{outline:3px solid #1a6cff;outline-offset:2px}
.sm{font-size:14px;min-height:36px;padding:6px 12px}.lg{font-size:19px;min-height:54px;padding:13px 26px}
.pay{display:inline-flex;align-items:center;justify-content:center;gap:.55em}
.stacked,.coins,.multicoin{flex-direction:column;gap:.15em}
.lightning{border-radius:999px}.heart svg{order:1}
svg{width:1.3em;height:1.3em;fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round}
small{display:block;font-size:.8em;font-weight:400}
dialog{border:0;border-radius:12px;padding:0;width:min(480px,100vw - 16px);max-height:calc(100dvh - 16px);
color:#14171f;background:#fff;color-scheme:light}
dialog::backdrop{background:#0009}.bar{display:flex;justify-content:flex-end;padding:6px}
.bar button{--a:#eef0f4;--t:#14171f;--r:8px;padding:6px 14px}
iframe{display:block;width:100%;height:600px;max-height:calc(100dvh - 80px);border:0}
form{display:grid;gap:12px;padding:0 20px 20px}label{display:grid;gap:4px}
input,textarea{padding:9px;border:1px solid #737987;border-radius:8px;background:#fff;color:inherit;width:100%}
.picks{display:flex;flex-wrap:wrap;gap:8px}.picks button{--a:#eef0f4;--t:#14171f}
p{margin:0;padding:0 20px 20px;white-space:pre-line}
[role=alert]{color:#a40000;padding:0}[role=alert]:empty{display:none}`);

  const make = (tag, props = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), props);
    element.append(...children.filter(Boolean));
    return element;
  };
  const drawn = (path) => {
    const [svg, line] = ['svg', 'path'].map((tag) => document.createElementNS('http://www.w3.org/2000/svg', tag));
    svg.setAttribute('viewBox', '0 0 24 24');
    svg.setAttribute('aria-hidden', 'true');
    line.setAttribute('d', path);
    svg.append(line);
    return svg;
  };
  const random = () => crypto.getRandomValues(new Uint32Array(5)).join('-');
  // Text on the accent: dark or light, whichever has the better contrast (WCAG).
  const textOn = (hex) => {
    const full = hex.length === 4 ? hex.replace(/[^#]/g, '$&$&') : hex;
    const [r, g, b] = [1, 3, 5].map((at) => {
      const value = parseInt(full.slice(at, at + 2), 16) / 255;
      return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? '#000' : '#fff';
  };

  class PayButton extends HTMLElement {
    connectedCallback() {
      if (this.shadowRoot) return;
      this.attachShadow({ mode: 'open' }).adoptedStyleSheets = [sheet];
      this.speak();
      this.button = make('button', { ...this.said, type: 'button', className: 'pay', onclick: () => this.click_() });
      this.shadowRoot.append(this.button);
      this.show(this.texts.payment);
      this.look(null);
      this.load();
    }

    // The shop's choice for this button, the language of its page, or one that the browser reads.
    speak() {
      const isOurs = (language) => Object.hasOwn(words, language);
      const [own, ...others] = [this.lang, document.documentElement.lang, ...navigator.languages].map(
        (tag) => tag.toLowerCase().split('-')[0],
      );
      const language = [own, ...others, 'en'].find(isOurs);
      this.chosen = isOurs(own) && own;
      this.said = { lang: language, dir: language === 'ar' ? 'rtl' : 'ltr' };
      const texts = words[language].split('|');
      this.texts = Object.fromEntries(names.split('|').map((name, index) => [name, texts[index]]));
    }

    // What the shop has chosen holds for the checkout too.
    at(address) {
      const url = new URL(address, checkout);
      if (this.chosen) url.searchParams.set('language', this.chosen);
      return url.href;
    }

    get path() {
      return `${api}/api/v1/public/widgets/${encodeURIComponent(this.getAttribute('widget') ?? '')}`;
    }

    async load() {
      this.button.disabled = true;
      try {
        const answer = await fetch(this.path, { credentials: 'omit' });
        if (answer.status === 404) return this.show(this.texts.off);
        if (!answer.ok) throw new Error(String(answer.status));
        this.widget = (await answer.json()).data;
        this.look(this.widget.branding);
        if (!this.widget.isActive) return this.show(this.texts.off);
        this.ready();
      } catch {
        console.warn(`crypto-pay-button: the widget was not read. Is ${location.host} among its allowedOrigins?`);
        this.show(this.texts.away);
        // A click tries again.
        this.button.disabled = false;
      }
    }

    ready() {
      const { branding, type } = this.widget;
      this.show(branding.buttonLabel || this.texts[type], branding.subLabel);
      this.button.disabled = false;
    }

    look(branding) {
      const { accentColor, layout, size, fullWidth, cornerRadius = 8 } = branding ?? {};
      const accent = accentColor || '#14171f';
      this.style.setProperty('--a', accent);
      this.style.setProperty('--t', textOn(accent));
      this.style.setProperty('--r', `${cornerRadius}px`);
      this.button.className = `pay ${layout ?? ''} ${size ?? ''} ${fullWidth ? 'wide' : ''}`;
      this.classList.toggle('wide', Boolean(fullWidth));
    }

    show(label, sub) {
      const { icon = 'auto', layout } = this.widget?.branding ?? {};
      const auto = icons[layout] ? layout : this.widget?.type === 'donation' ? 'heart' : 'bitcoin';
      const mark = icons[icon === 'auto' ? auto : icon];
      this.button.replaceChildren(
        mark ? drawn(mark) : '',
        make('span', {}, label, sub && make('small', { textContent: sub })),
      );
      this.button.ariaLive = 'polite';
    }

    async click_() {
      if (!this.widget) return this.load();
      if (this.busy) return;
      const { amountMode, donorFields } = this.widget;
      if (amountMode === 'variable' || donorFields.length) return this.ask();
      await this.open({}, (message) => this.show(message));
    }

    // The same wish finds the same checkout, also after the back button; another wish takes a new token. What the donor
    // has typed is kept as a number alone.
    token(wish, fresh) {
      const donor = [...JSON.stringify(wish)].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) | 0, 7);
      const key = `crypto-pay/${this.getAttribute('widget')}/${wish.amount ?? ''}/${donor}`;
      let token = null;
      try {
        token = fresh ? null : sessionStorage.getItem(key);
        token ||= random();
        sessionStorage.setItem(key, token);
      } catch {
        // No storage here: for as long as the page lasts.
        this.kept ??= {};
        token = this.kept[key] = (!fresh && this.kept[key]) || token || random();
      }
      return token;
    }

    async open(wish, fail) {
      if (this.busy) return;
      this.busy = true;
      this.show(this.texts.busy);
      try {
        let data = await this.ask_(wish, false);
        if (over[data.status] || paid.includes(data.status)) data = await this.ask_(wish, true);
        this.ready();
        this.tell(data.invoiceId, data.status);
        if (data.embedUrl) this.frame(data);
        else location.assign(this.at(data.invoiceUrl));
      } catch (error) {
        this.ready();
        if (error.code === 'WIDGET_DISABLED') {
          this.close();
          this.show(this.texts.off);
          this.button.disabled = true;
        } else fail(error.isRefusal ? this.texts.failed : this.texts.away);
      } finally {
        this.busy = false;
      }
    }

    async ask_(wish, fresh) {
      const answer = await fetch(`${this.path}/checkout`, {
        method: 'POST',
        credentials: 'omit',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${this.getAttribute('key')}` },
        body: JSON.stringify({ checkoutToken: this.token(wish, fresh), ...wish }),
      });
      const body = await answer.json();
      if (answer.ok) return body.data;
      throw Object.assign(new Error(), { code: body.error?.code, isRefusal: true });
    }

    tell(invoiceId, status, more) {
      const outcome = paid.includes(status) ? 'paid' : (over[status] ?? 'open');
      const detail = { widgetId: this.widget.id, invoiceId, status, outcome, ...more };
      this.dispatchEvent(new CustomEvent('payment:status', { detail, bubbles: true, composed: true }));
    }

    dialog(label, ...children) {
      this.close();
      const close = make('button', { type: 'button', textContent: this.texts.close, onclick: () => this.close() });
      const dialog = make('dialog', { ...this.said, ariaLabel: label, onclose: () => this.close() });
      dialog.append(make('div', { className: 'bar' }, close), ...children);
      this.shadowRoot.append(dialog);
      // The browser keeps the focus in it, and closes it at Escape.
      dialog.showModal();
      return dialog;
    }

    close() {
      this.stop?.();
      const dialog = this.shadowRoot.querySelector('dialog');
      if (!dialog) return;
      dialog.onclose = null;
      dialog.close();
      dialog.remove();
      this.button.focus();
    }

    ask() {
      const { donorFields, requiredDonorFields, amountMode, suggestedAmounts, minAmount, maxAmount, fiatCurrency } =
        this.widget;
      const alert = make('div', { role: 'alert' });
      const form = make('form', {});
      if (amountMode === 'variable') {
        const amount = make('input', {
          ...{ name: 'amount', required: true, inputMode: 'decimal', autocomplete: 'off', dir: 'ltr' },
        });
        amount.pattern = '[0-9]{1,12}([.][0-9]{1,2})?';
        amount.value = suggestedAmounts[0] ?? '';
        const range = [minAmount && `≥ ${minAmount}`, maxAmount && `≤ ${maxAmount}`].filter(Boolean).join(', ');
        // The API decides; this says it before, in signs that need no translation.
        const check = () => {
          const isOut = amount.value - minAmount < 0 || (maxAmount && amount.value - maxAmount > 0);
          amount.setCustomValidity(isOut ? range : '');
        };
        amount.oninput = check;
        check();
        const picks = suggestedAmounts.map((value) =>
          make('button', {
            type: 'button',
            dir: 'ltr',
            textContent: `${value} ${fiatCurrency}`,
            onclick: () => {
              amount.value = value;
              check();
            },
          }),
        );
        form.append(
          make('div', { className: 'picks' }, ...picks),
          make(
            'label',
            {},
            make(
              'span',
              {},
              `${this.texts.amount} `,
              make('bdi', { dir: 'ltr' }, `(${fiatCurrency}${range && `, ${range}`})`),
            ),
            amount,
          ),
        );
      }
      for (const name of donorFields) {
        const field = make(name === 'comment' || name === 'address' ? 'textarea' : 'input', {
          name,
          required: requiredDonorFields.includes(name),
          autocomplete: { email: 'email', name: 'name', phone: 'tel', address: 'street-address' }[name] ?? 'off',
          maxLength: { name: 120, email: 254, phone: 40, address: 300, comment: 500 }[name],
        });
        if (name === 'email') Object.assign(field, { type: 'email', dir: 'ltr', pattern: '[^@]+@[^@]+[.][^@.]+' });
        form.append(make('label', {}, this.texts[name] + (field.required ? ' *' : ''), field));
      }
      form.append(alert, make('button', { textContent: this.texts.next }));
      form.onsubmit = (event) => {
        event.preventDefault();
        alert.textContent = '';
        const given = Object.fromEntries([...new FormData(form)].filter(([, value]) => value.trim() !== ''));
        const { amount, ...donor } = given;
        const wish = { ...(amount && { amount }), ...(donorFields.length && { donor }) };
        void this.open(wish, (message) => (alert.textContent = message));
      };
      this.dialog(this.texts[this.widget.type], form);
    }

    frame({ invoiceId, embedUrl, status }) {
      const frame = make('iframe', { src: this.at(embedUrl), title: this.texts.checkout, allow: 'clipboard-write' });
      const { origin } = new URL(checkout);
      const dialog = this.dialog(this.texts.checkout, frame);
      let last = status;
      const heard = ({ source, origin: from, data }) => {
        if (source !== frame.contentWindow || from !== origin || data?.source !== 'svc-widget') return;
        if (data.type === 'resize' && data.height > 0)
          frame.style.height = `${Math.min(Math.ceil(data.height), 4000)}px`;
        if (data.type === 'close') this.close();
        if (data.type !== 'status' || data.status === last) return;
        last = data.status;
        this.tell(invoiceId, last);
        const { thankYouText } = this.widget;
        if (paid.includes(last) && thankYouText && !dialog.querySelector('p'))
          frame.before(make('p', { textContent: thankYouText, role: 'status' }));
      };
      addEventListener('message', heard);
      frame.onload = () => frame.contentWindow.postMessage({ source: 'svc-widget', type: 'hello' }, origin);
      this.stop = () => {
        removeEventListener('message', heard);
        this.stop = null;
        this.tell(invoiceId, last, { closed: true });
      };
    }
  }
  customElements.define('crypto-pay-button', PayButton);
  if (self?.dataset.widget) {
    const button = document.createElement('crypto-pay-button');
    button.setAttribute('widget', self.dataset.widget);
    button.setAttribute('key', self.dataset.key ?? '');
    button.lang = self.lang;
    self.after(button);
  }
}
