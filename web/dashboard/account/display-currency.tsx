import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { holds } from '../../../domain/access/access';
import { client, payload } from '../api/client';
import { meQuery, queryClient } from '../api/queries';
import { useAct } from '../design/act';
import css from '../design/design.module.css';
import { ErrorNotice, Skeleton, useToast } from '../design/feedback';
import { Choice } from '../design/field';
import { useTexts } from '../texts/texts';

const fiats = ['USD', 'EUR', 'GBP', 'JPY'] as const;

/** The fiat that new payments are priced in: a setting of the merchant, for those who may see it. */
export function DisplayCurrency() {
  const { data: me } = useSuspenseQuery(meQuery);
  return me?.merchantId && holds(me, 'settings:view') ? <Setting mayChange={holds(me, 'settings:manage')} /> : null;
}

function Setting({ mayChange }: Readonly<{ mayChange: boolean }>) {
  const t = useTexts();
  const toast = useToast();
  const settings = useQuery({
    queryKey: ['settings'],
    queryFn: () => payload(client.GET('/api/v1/settings')),
  });
  const act = useAct(async (displayCurrency: (typeof fiats)[number]) => {
    await payload(client.PATCH('/api/v1/settings', { body: { displayCurrency } }));
    await queryClient.invalidateQueries({ queryKey: ['settings'] });
    toast(t.saved);
  });
  return (
    <section className={css.card} aria-labelledby="currency">
      <h2 id="currency">{t.displayCurrency.title}</h2>
      <p className={css.soft}>{t.displayCurrency.why}</p>
      <ErrorNotice error={act.error ?? settings.error} />
      {settings.isPending && <Skeleton lines={1} />}
      {settings.data &&
        (mayChange ? (
          <Choice
            label={t.displayCurrency.label}
            value={settings.data.displayCurrency as (typeof fiats)[number]}
            options={fiats.map((one) => [one, one])}
            onChange={(next) => void act.run(next)}
          />
        ) : (
          <p>
            {settings.data.displayCurrency} <span className={css.soft}>({t.needs('settings:manage')})</span>
          </p>
        ))}
    </section>
  );
}
