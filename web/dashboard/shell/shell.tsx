import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useRouter, type ErrorComponentProps } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { client, payload } from '../api/client';
import { meQuery, queryClient, type Me } from '../api/queries';
import { askBy } from '../api/renewal';
import { useKeptPreferences } from '../account/kept-preferences';
import { SignIn } from '../account/sign-in';
import { Button } from '../design/button';
import { ConfirmDialog } from '../design/confirm';
import css from '../design/design.module.css';
import { Dialog } from '../design/dialog';
import { ErrorNotice, Notice } from '../design/feedback';
import { PaletteButton } from '../palette/open';
import { useTexts } from '../texts/texts';
import { Page } from './page';
import { sections } from './sections';
import shell from './shell.module.css';

/** The frame of every page for signed-in people. */
export function Shell() {
  const t = useTexts();
  const { data: me } = useQuery(meQuery);
  useKeptPreferences(me);
  const navigate = useNavigate();
  const [isLeaving, setLeaving] = useState(false);
  const leave = async (): Promise<boolean> => {
    askBy(undefined); // what is asked meanwhile must not bring the form of the sign-in
    await payload(client.POST('/api/v1/auth/logout'));
    queryClient.clear();
    await navigate({ to: '/sign-in' });
    return true;
  };
  if (!me) return null;
  return (
    <div className={shell.shell}>
      <a className={shell.skip} href="#main">
        {t.nav.skip}
      </a>
      <header className={shell.bar}>
        <div className={shell.who}>
          <div className={shell.brand}>{me.merchantName ?? t.product}</div>
          <div className={css.hint}>{me.email}</div>
        </div>
        <nav aria-label={t.nav.label}>
          <ul className={css.tabs}>
            {sections.map(
              ({ to, name, isFor }) => isFor(me) && <Entry key={to} to={to} text={t.nav[name]} isExact={to === '/'} />,
            )}
          </ul>
        </nav>
        <div className={shell.end}>
          <PaletteButton me={me} />
          <Button look="link" onClick={() => setLeaving(true)}>
            {t.nav.signOut}
          </Button>
        </div>
      </header>
      <main id="main" className={shell.main} tabIndex={-1}>
        <Outlet />
      </main>
      {isLeaving && (
        <ConfirmDialog title={t.nav.signOut} sure={t.nav.signOutSure} act={leave} onEnd={() => setLeaving(false)} />
      )}
      <SignInAgain me={me} />
    </div>
  );
}

function Entry({ to, text, isExact }: Readonly<{ to: string; text: string; isExact: boolean }>) {
  return (
    <li>
      <Link
        to={to}
        className={css.tab!}
        activeOptions={{ exact: isExact, includeSearch: false }}
        activeProps={{ 'aria-current': 'page' }}
      >
        {text}
      </Link>
    </li>
  );
}

/** The session has ended while a page was open: the person signs in again over it, and nothing they typed is lost. */
function SignInAgain({ me }: Readonly<{ me: Me }>) {
  const t = useTexts();
  const navigate = useNavigate();
  const [answer, setAnswer] = useState<((isBack: boolean) => void) | null>(null);
  useEffect(() => {
    askBy(() => new Promise<boolean>((resolve) => setAnswer(() => resolve)));
    return () => askBy(undefined);
  }, []);
  if (!answer) return null;
  const end = (isBack: boolean): void => {
    setAnswer(null);
    answer(isBack);
  };
  const done = async (): Promise<void> => {
    const now = await payload(client.GET('/api/v1/auth/me'));
    // Somebody else has signed in: nothing of the person before may stay on the page.
    if (now.id !== me.id) window.location.reload();
    else {
      queryClient.setQueryData(meQuery.queryKey, now);
      end(true);
    }
  };
  return (
    <Dialog title={t.again.title} onClose={() => undefined}>
      <Notice tone="warn">{t.again.why}</Notice>
      <SignIn email={me.email} isInPlace onDone={done} />
      <Button
        look="link"
        onClick={() => {
          end(false);
          queryClient.clear();
          void navigate({ to: '/sign-in' });
        }}
      >
        {t.again.leave}
      </Button>
    </Dialog>
  );
}

export function NotFound() {
  const t = useTexts();
  return (
    <main className={shell.main}>
      <Page title={t.notFound.title}>
        <p>{t.notFound.why}</p>
        <p>
          <Link to="/">{t.nav.home}</Link>
        </p>
      </Page>
    </main>
  );
}

/** A page that could not be shown, with another try. */
export function Failed({ error, reset }: ErrorComponentProps) {
  const t = useTexts();
  const router = useRouter();
  return (
    <Page title={t.failed}>
      <ErrorNotice
        error={error}
        onRetry={() => {
          reset();
          void router.invalidate();
        }}
      />
    </Page>
  );
}

/** The same where nothing is around it. */
export function FailedAlone(props: ErrorComponentProps) {
  return (
    <main className={shell.main}>
      <Failed {...props} />
    </main>
  );
}
