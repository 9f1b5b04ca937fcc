import { useEffect, useRef, useState } from 'react';
import { checkoutUrl } from '../api/places';
import css from '../design/design.module.css';
import { linesOf, type Form } from './data';
import widgetCss from './widgets.module.css';
import { useWidgetTexts } from './texts/use';

/** The widget as pages read it. */
const shownOf = (form: Form, merchantName: string, fiatCurrency: string) => ({
  ...form,
  id: 'preview',
  suggestedAmounts: linesOf(form.suggestedAmounts),
  minAmount: form.minAmount || null,
  maxAmount: form.maxAmount || null,
  fixedAmount: form.fixedAmount || null,
  thankYouText: form.thankYouText || null,
  merchantName,
  fiatCurrency,
  currencies: form.allowedCurrencies,
});

/** The real element of shops, in a frame of the checkout's origin: nothing that runs there reaches the dashboard. */
export function Preview(props: Readonly<{ form: Form; merchantName: string; fiatCurrency: string }>) {
  const { form, merchantName, fiatCurrency } = props;
  const t = useWidgetTexts();
  const frame = useRef<HTMLIFrameElement>(null);
  const [isReady, setReady] = useState(false);
  useEffect(() => {
    const listen = ({ source, data }: MessageEvent): void => {
      const said = data as { source?: unknown; type?: unknown } | null;
      if (source === frame.current?.contentWindow && said?.source === 'svc-preview' && said.type === 'ready')
        setReady(true);
    };
    window.addEventListener('message', listen);
    return () => window.removeEventListener('message', listen);
  }, []);
  const widget = JSON.stringify(shownOf(form, merchantName, fiatCurrency));
  useEffect(() => {
    if (!isReady) return;
    frame.current?.contentWindow?.postMessage(
      { source: 'svc-preview', widget: JSON.parse(widget) as unknown },
      new URL(checkoutUrl).origin,
    );
  }, [isReady, widget]);
  return (
    <section className={css.card} aria-labelledby="preview">
      <h2 id="preview">{t.preview}</h2>
      <p className={css.hint}>{t.previewWhy}</p>
      <iframe
        ref={frame}
        className={widgetCss.frame}
        title={t.preview}
        src={`${checkoutUrl}/preview`}
        sandbox="allow-scripts allow-same-origin"
      />
    </section>
  );
}
