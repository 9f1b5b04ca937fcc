import { createContext, useCallback, useContext, useMemo, useRef, useState, type ReactNode } from 'react';
import { ApiError } from '../api/errors';
import { useSentence, useTexts } from '../texts/texts';
import { Button } from './button';
import css from './design.module.css';

type Tone = 'info' | 'good' | 'bad' | 'warn';

export function Notice({ tone = 'info', children }: Readonly<{ tone?: Tone; children: ReactNode }>) {
  return (
    <div
      className={`${css.notice} ${tone === 'info' ? '' : css[tone]}`}
      role={tone === 'bad' ? 'alert' : tone === 'good' ? 'status' : undefined}
    >
      {children}
    </div>
  );
}

/** What a refusal says, in the language of its reader; a reason of its own says more than its code. */
export function useRefusal(): (refusal: Readonly<{ code: string; message: string }>) => string {
  const { refusals } = useTexts();
  const sentence = useSentence();
  return ({ code, message }) => refusals[message] ?? refusals[code] ?? sentence(message);
}

/** What an error says to a person, in their language. */
function useErrorText(): (error: unknown) => string {
  const t = useTexts();
  const refusal = useRefusal();
  const sentence = useSentence();
  return (error) => {
    if (!(error instanceof ApiError)) return t.errors.unexpected;
    if (error.details['reason'] === 'CODE_VOID') return t.stepUp.codeVoid;
    if (error.status === 429) return t.errors.wait(error.retryAfterSeconds ?? 60);
    const told = refusal(error);
    const isOurs = told === sentence(error.message) && (error.status >= 500 || told === '');
    return isOurs ? t.errors.unexpected : told;
  };
}

/** Refusals whose own words say more than their code. */
const withDetails = ['INVALID_ADDRESS', 'VALIDATION_ERROR', 'CONVERSION_FAILED', 'CSV_INVALID', 'QUOTE_FAILED'];

/** An error with what support needs to find it, and another try where that may help. */
export function ErrorNotice({ error, onRetry }: Readonly<{ error: unknown; onRetry?: () => void }>) {
  const t = useTexts();
  const text = useErrorText();
  const sentence = useSentence();
  if (!error) return null;
  const requestId = error instanceof ApiError ? error.requestId : null;
  return (
    <Notice tone="bad">
      {text(error)}
      {error instanceof ApiError && withDetails.includes(error.code) && <small> {sentence(error.message)}</small>}
      {requestId && (
        <>
          {' '}
          <small>
            {t.errors.requestId} <code className={css.code}>{requestId}</code>
          </small>
        </>
      )}
      {onRetry && (
        <>
          {' '}
          <Button look="link" onClick={onRetry}>
            {t.retry}
          </Button>
        </>
      )}
    </Notice>
  );
}

/** Lines that stand where data will be. */
export function Skeleton({ lines = 3 }: Readonly<{ lines?: number }>) {
  const t = useTexts();
  return (
    <div className={css.stack} role="status">
      <span className={css.hidden}>{t.loading}</span>
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} className={css.skeleton} aria-hidden="true" />
      ))}
    </div>
  );
}

type Toast = Readonly<{ id: number; text: string }>;
const ToastContext = createContext<(text: string) => void>(() => undefined);
export const useToast = (): ((text: string) => void) => useContext(ToastContext);

/** Short messages that a screen reader reads without losing its place. */
export function Toasts({ children }: Readonly<{ children: ReactNode }>) {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const count = useRef(0);
  const show = useCallback((text: string) => {
    const id = (count.current += 1);
    setToasts((before) => [...before, { id, text }]);
    setTimeout(() => setToasts((before) => before.filter((one) => one.id !== id)), 6000);
  }, []);
  const value = useMemo(() => show, [show]);
  return (
    <ToastContext value={value}>
      {children}
      <div className={css.toasts} role="status" aria-live="polite">
        {toasts.map(({ id, text }) => (
          <div key={id} className={css.toast}>
            {text}
          </div>
        ))}
      </div>
    </ToastContext>
  );
}
