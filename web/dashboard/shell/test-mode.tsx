import { isTest } from '../api/places';
import { useTexts } from '../texts/texts';
import css from './shell.module.css';

/** Above every page of a test instance, also before anybody has signed in. */
export function TestMode() {
  const t = useTexts();
  return isTest ? <aside className={css.testMode}>{t.testMode}</aside> : null;
}
