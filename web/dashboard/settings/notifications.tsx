import { useId, useState } from 'react';
import { mayCall } from '../../../domain/access/access';
import { access } from '../../../domain/access/access-table';
import { callbackDomainPattern, settingBounds } from '../../../domain/access/setting-bounds';
import { client, payload } from '../api/client';
import type { Me } from '../api/queries';
import { Button } from '../design/button';
import { ConfirmDialog } from '../design/confirm';
import css from '../design/design.module.css';
import { Area } from '../design/field';
import { Moment } from '../design/moment';
import { SecretOnce } from '../design/once';
import { useStepUp } from '../step-up/step-up';
import { useTexts } from '../texts/texts';
import { keepSettings, saveSettings, type Settings } from './data';
import { SubjectForm, useSubject } from './subject';
import { useSettingTexts } from './texts/use';

const hostsIn = (typed: string): string[] => typed.split(/[\s,]+/).filter(Boolean);
const isHost = (host: string): boolean => host.length <= 253 && new RegExp(callbackDomainPattern).test(host);
const areHosts = (hosts: readonly string[]): boolean =>
  hosts.length <= settingBounds.callbackDomains && hosts.every(isHost);

const notificationsOf = ({ ipnEnabled, callbackDomains }: Settings) => ({
  ipnEnabled,
  callbackDomains: callbackDomains.join('\n'),
});

/** Whether payments call the merchant's server, and where. */
export function Notifications({ settings, me }: Readonly<{ settings: Settings; me: Me }>) {
  const words = useSettingTexts().notifications;
  const hint = useId();
  const subject = useSubject({
    data: settings,
    valuesOf: notificationsOf,
    save: ({ callbackDomains: typed, ...changed }) =>
      saveSettings({ ...changed, ...(typed === undefined ? {} : { callbackDomains: hostsIn(typed) }) }),
    keep: keepSettings,
  });
  const { form } = subject;
  return (
    <SubjectForm id="notifications" title={words.title} me={me} subject={subject}>
      <div>
        <label className={css.check}>
          <input type="checkbox" aria-describedby={hint} {...form.register('ipnEnabled')} />
          {words.enabled}
        </label>
        <p id={hint} className={css.hint}>
          {words.enabledHint}
        </p>
      </div>
      <Area
        label={words.domains}
        hint={words.domainsHint}
        isCode
        autoComplete="off"
        spellCheck={false}
        error={form.formState.errors.callbackDomains?.message}
        {...form.register('callbackDomains', { validate: (typed) => areHosts(hostsIn(typed)) || words.domainsWrong })}
      />
    </SubjectForm>
  );
}

/** The secret that signs these calls: nobody can show it again, so it is replaced. */
export function IpnSecret({ me }: Readonly<{ me: Me }>) {
  const t = useTexts();
  const words = useSettingTexts().secret;
  const confirm = useStepUp();
  const [isAsking, setAsking] = useState(false);
  const [made, setMade] = useState<{ secret: string; previousValidUntil: string } | null>(null);
  const rotate = async (): Promise<boolean> => {
    const rotated = await confirm('ipn_secret', (body) =>
      payload(client.POST('/api/v1/settings/ipn-secret/rotate', { body })),
    );
    if (rotated) setMade(rotated.value);
    return rotated !== null;
  };
  return (
    <section className={css.card} aria-labelledby="ipn-secret">
      <h2 id="ipn-secret">{words.title}</h2>
      <p>{words.why}</p>
      <div>
        <Button
          reason={mayCall(me, access.rotateIpnSecret.may) ? undefined : t.needs('settings:manage')}
          onClick={() => setAsking(true)}
        >
          {words.rotate}
        </Button>
      </div>
      {isAsking && (
        <ConfirmDialog
          title={words.rotate}
          sure={words.sure}
          look="danger"
          act={rotate}
          onEnd={() => setAsking(false)}
        />
      )}
      {made !== null && (
        <SecretOnce title={words.fresh} label={words.label} secret={made.secret} onDone={() => setMade(null)}>
          <p>
            {words.overlap} <Moment at={made.previousValidUntil} />
          </p>
        </SecretOnce>
      )}
    </section>
  );
}
