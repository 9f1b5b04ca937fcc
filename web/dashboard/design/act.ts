import { useRef, useState } from 'react';

/** One act at a time: a second click while it is under way does nothing. Its error stays until the next try. */
export function useAct<Args extends readonly unknown[], Result>(act: (...args: Args) => Promise<Result>) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const isUnderWay = useRef(false);
  const run = async (...args: Args): Promise<void> => {
    if (isUnderWay.current) return;
    isUnderWay.current = true;
    setBusy(true);
    setError(null);
    try {
      await act(...args);
    } catch (caught) {
      setError(caught);
    } finally {
      isUnderWay.current = false;
      setBusy(false);
    }
  };
  return { run, isBusy, error, clear: () => setError(null) };
}
