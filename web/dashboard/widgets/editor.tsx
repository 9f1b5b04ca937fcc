import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { mayCall } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import { client, payload } from '../api/client';
import { meQuery, type Me } from '../api/queries';
import { useAct } from '../design/act';
import { Button } from '../design/button';
import css from '../design/design.module.css';
import { ErrorNotice, Notice, useToast } from '../design/feedback';
import { FormDialog } from '../design/form-dialog';
import { Loaded } from '../design/loaded';
import { Copy, useNumbers } from '../design/show';
import { Page } from '../shell/page';
import { useTexts } from '../texts/texts';
import { bodyOf, emptyForm, formOf, linesOf, readWidget, renewWidgets, type Form, type Widget } from './data';
import { WidgetFields } from './fields';
import { Preview } from './preview';
import widgetCss from './widgets.module.css';
import { useWidgetTexts } from './texts/use';

export function NewWidgetPage() {
  const t = useWidgetTexts();
  const all = useTexts();
  const { data: me } = useSuspenseQuery(meQuery);
  const mayCreate = me !== null && mayCall(me, access.createWidget.may);
  return (
    <Page title={t.create}>{mayCreate ? <Editor /> : <Notice tone="warn">{all.needs('widgets:manage')}</Notice>}</Page>
  );
}

export function WidgetPage() {
  const t = useWidgetTexts();
  const { widgetId } = useParams({ from: '/signed-in/widgets/$widgetId' });
  const query = useQuery({ queryKey: ['widget', widgetId], queryFn: () => readWidget(widgetId) });
  return (
    <Page title={query.data?.name ?? t.title}>
      <p>
        <Link to="/widgets">{t.back}</Link>
      </p>
      <Loaded query={query} lines={8}>
        {(widget) => (
          <>
            <Figures widget={widget} />
            <Editor key={widget.id} widget={widget} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Figures({ widget }: Readonly<{ widget: Widget }>) {
  const t = useWidgetTexts();
  const numbers = useNumbers();
  return (
    <div className={css.grid}>
      <section className={css.card} aria-labelledby="stats">
        <h2 id="stats">{t.stats}</h2>
        <dl className={css.facts}>
          <dt>{t.opens}</dt>
          <dd>{numbers.count(widget.stats.opens)}</dd>
          <dt>{t.payments}</dt>
          <dd>{numbers.count(widget.stats.payments)}</dd>
          <dt>{t.revenue}</dt>
          <dd>{numbers.fiat(widget.stats.paidUsd, 'USD')}</dd>
        </dl>
      </section>
      <section className={css.card} aria-labelledby="snippet">
        <h2 id="snippet">{t.snippet}</h2>
        <p className={css.soft}>{t.snippetWhy}</p>
        <Copy value={widget.embedSnippet} label={t.snippetLabel} />
      </section>
    </div>
  );
}

/** Why a form cannot be sent yet. */
function useMissing(form: Form, me: Me): string | undefined {
  const t = useWidgetTexts();
  const all = useTexts();
  if (!mayCall(me, access.createWidget.may)) return all.needs('widgets:manage');
  if (!form.name.trim()) return `${t.name}: ${all.required}`;
  if (form.amountMode === 'fixed' && !form.fixedAmount.trim()) return `${t.amounts}: ${all.required}`;
  const needsOrigins = form.displayMode === 'inline' && linesOf(form.allowedOrigins).length === 0;
  return needsOrigins ? t.originsNeeded : undefined;
}

/** The form of a widget beside the button that it makes. */
function Editor({ widget }: Readonly<{ widget?: Widget }>) {
  const { data: me } = useSuspenseQuery(meQuery);
  return me && <EditorFor me={me} widget={widget} />;
}

function EditorFor({ me, widget }: Readonly<{ me: Me; widget: Widget | undefined }>) {
  const t = useWidgetTexts();
  const all = useTexts();
  const toast = useToast();
  const navigate = useNavigate();
  const [form, setForm] = useState<Form>(() => (widget ? formOf(widget) : emptyForm));
  const [isRemoving, setRemoving] = useState(false);
  const settings = useQuery({
    queryKey: ['settings'],
    queryFn: () => payload(client.GET('/api/v1/settings')),
    enabled: mayCall(me, access.getSettings.may),
  });
  const fiat = settings.data?.displayCurrency;
  const missing = useMissing(form, me);
  const act = useAct(async () => {
    const body = bodyOf(form);
    if (widget) {
      await payload(client.PATCH('/api/v1/widgets/{widgetId}', { params: { path: { widgetId: widget.id } }, body }));
      await renewWidgets();
      toast(all.saved);
      return;
    }
    const made = await payload(client.POST('/api/v1/widgets', { body }));
    await renewWidgets();
    toast(t.created);
    await navigate({ to: '/widgets/$widgetId', params: { widgetId: made.id } });
  });
  return (
    <>
      <form
        className={css.stack}
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (missing === undefined) void act.run();
        }}
      >
        <div className={css.grid}>
          <div className={css.stack}>
            <WidgetFields form={form} change={(change) => setForm({ ...form, ...change })} fiat={fiat} />
          </div>
          <div className={widgetCss.beside}>
            <Preview form={form} merchantName={me.merchantName ?? ''} fiatCurrency={fiat ?? 'USD'} />
          </div>
        </div>
        <ErrorNotice error={act.error} />
        <div className={css.row}>
          <Button type="submit" look="primary" busy={act.isBusy} reason={missing}>
            {widget ? all.save : t.create}
          </Button>
          {widget && (
            <Button
              look="danger"
              reason={mayCall(me, access.deleteWidget.may) ? undefined : all.needs('widgets:manage')}
              onClick={() => setRemoving(true)}
            >
              {t.remove}
            </Button>
          )}
        </div>
      </form>
      {widget && isRemoving && <Remove widget={widget} onEnd={() => setRemoving(false)} />}
    </>
  );
}

function Remove({ widget, onEnd }: Readonly<{ widget: Widget; onEnd: () => void }>) {
  const t = useWidgetTexts();
  const toast = useToast();
  const navigate = useNavigate();
  const act = useAct(async () => {
    await payload(client.DELETE('/api/v1/widgets/{widgetId}', { params: { path: { widgetId: widget.id } } }));
    toast(t.removed);
    await navigate({ to: '/widgets' });
    await renewWidgets();
  });
  return (
    <FormDialog title={t.remove} submit={t.remove} act={act} onEnd={onEnd} isDanger>
      <Notice tone="warn">{t.removeSure}</Notice>
    </FormDialog>
  );
}
