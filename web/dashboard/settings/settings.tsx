import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { holds } from '../../../domain/access/access';
import { meQuery, type Me } from '../api/queries';
import css from '../design/design.module.css';
import { Notice } from '../design/feedback';
import { Loaded } from '../design/loaded';
import { Page } from '../shell/page';
import { useTexts } from '../texts/texts';
import { Contact, Logo } from './branding';
import { brandingQuery, settingsQuery } from './data';
import { IpnSecret, Notifications } from './notifications';
import { Exceptions, FeeAndTime } from './payment-settings';
import { Safety } from './safety';
import { useSettingTexts } from './texts/use';

/** What a merchant sets for the whole shop: a form for each subject. */
export function SettingsPage() {
  const t = useTexts();
  const words = useSettingTexts();
  const { data: me } = useSuspenseQuery(meQuery);
  if (!me) return null;
  const isAllowed = me.merchantId !== null && holds(me, 'settings:view');
  return (
    <Page title={words.title}>
      {isAllowed ? <Subjects me={me} /> : <Notice tone="warn">{t.needs('settings:view')}</Notice>}
    </Page>
  );
}

function Subjects({ me }: Readonly<{ me: Me }>) {
  const words = useSettingTexts();
  const settings = useQuery(settingsQuery);
  const branding = useQuery(brandingQuery);
  return (
    <>
      <p className={css.soft}>{words.later}</p>
      <Loaded query={settings} lines={8}>
        {(data) => (
          <>
            <div className={css.grid}>
              <FeeAndTime settings={data} me={me} />
              <Exceptions settings={data} me={me} />
              <Safety settings={data} me={me} />
              <Notifications settings={data} me={me} />
            </div>
            <IpnSecret me={me} />
          </>
        )}
      </Loaded>
      <Loaded query={branding} lines={6}>
        {(data) => (
          <div className={css.grid}>
            <Contact branding={data} me={me} />
            <Logo branding={data} me={me} />
          </div>
        )}
      </Loaded>
    </>
  );
}
